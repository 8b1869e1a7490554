"""An MCP server as a route of a Flask application, on any WSGI server with threads.

    flask --app examples.flask_app run
    gunicorn --threads 16 examples.flask_app:app

WSGI is synchronous, so one event loop in a thread serves all requests. That is also what keeps sessions: they
belong to one loop and one process. An open stream occupies a thread of the WSGI server until it ends.
"""

import asyncio
import atexit
from collections.abc import Coroutine, Iterator
from threading import Thread
from typing import Any, TypeVar

from flask import Flask, Response, request

import assay
from assay import Context, Scope, Server

server = Server("flask", version="1.0.0")
server.configure_http(path=None)  # Flask has already routed the request
T = TypeVar("T")


@server.tool
async def count(to: int, ctx: Context) -> str:
    """Count, and report progress."""
    for number in range(to):
        await ctx.progress(number + 1, total=to)
    return f"counted to {to}"


loop = asyncio.new_event_loop()
Thread(target=loop.run_forever, name="mcp", daemon=True).start()


def wait(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run_coroutine_threadsafe(coroutine, loop).result()


atexit.register(lambda: wait(server.stop()))


async def next_part(response: assay.Response) -> bytes | None:
    return None if response.stream is None else await anext(response.stream, None)


def parts(response: assay.Response) -> Iterator[bytes]:
    try:
        while (part := wait(next_part(response))) is not None:
            yield part
    finally:
        wait(response.close())  # the client may have disconnected


app = Flask(__name__)


@app.route("/mcp", methods=["POST", "GET", "DELETE"])
def mcp() -> Response:
    address = request.remote_addr or ""
    caller = Scope(client_address=lambda: address)
    response = wait(
        server.http(request.method, request.full_path, request.headers, request.get_data(), scope=caller)
    )
    body = response.body if response.stream is None else parts(response)
    return Response(body, response.status, response.headers)
