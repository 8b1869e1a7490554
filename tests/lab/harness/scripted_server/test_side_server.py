"""An ASGI application beside the endpoint."""

from typing import Any

import pytest

from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.side_server import serve_asgi
from tests.lab.harness.scripted_server.callers import hosted


async def echo(scope: Any, receive: Any, send: Any) -> None:
    given = await receive()
    told = f"{scope['method']} {scope['path']} {scope['query_string'].decode()} {given['body'].decode()}"
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"999")]
    await send({"type": "http.response.start", "status": 201, "headers": headers})
    await send({"type": "http.response.body", "body": told.encode(), "more_body": True})
    await send({"type": "http.response.body", "body": b"!"})


async def test_application_answers() -> None:
    async def serve(asked: Asked, reply: HttpReply) -> None:
        await serve_asgi(echo, asked, reply)

    async with hosted() as one:
        origin = await one.hosting.room("shop", serve)
        answer = await (await one.call(origin)).ask("POST", "/a%20b?c=d", b"body")
    assert (answer.head.status, answer.body) == (201, b"POST /a b c=d body!")
    assert answer.head.get("content-type") == "text/plain"


@pytest.mark.parametrize("name", ["[::1]:80", "localhost:abc", "", ":"])
async def test_whatever_the_client_calls_the_host_it_is_answered(name: str) -> None:
    async def serve(asked: Asked, reply: HttpReply) -> None:
        await serve_asgi(echo, asked, reply)

    async with hosted() as one:
        caller = await one.call(await one.hosting.room("shop", serve))
        caller.writer.write(f"GET / HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
        assert (await caller.answer()).head.status == 201
    assert one.hosting.fault is None
