"""Servers with nothing inside: `python hollow.py NAME` serves on stdio, `on_http` at a URL.

The standard library alone, so that they are there at once.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Answer = Callable[[Json], Json | None]
NAMED = {"name": "hollow", "version": "1"}
EVERYTHING: Json = {"tools": {}, "resources": {}, "prompts": {}, "logging": {}, "completions": {}}


def deny(message: Json) -> Json:
    return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}


def answer_nothing(message: Json) -> Json:
    return {"jsonrpc": "2.0", "id": message["id"], "result": {}}


def echo(message: Json) -> Json:
    return message


def keep_silent(message: Json) -> None:
    return None


def greet_and_deny(message: Json) -> Json:
    return _greeting(message, {}) or deny(message)


def greet_and_answer_nothing(message: Json) -> Json:
    return _greeting(message, EVERYTHING) or answer_nothing(message)


def _greeting(message: Json, capabilities: Json) -> Json | None:
    if message["method"] != "initialize":
        return None
    agreed = message["params"]["protocolVersion"]
    result = {"protocolVersion": agreed, "capabilities": capabilities, "serverInfo": NAMED}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def answered(body: bytes | str, answer: Answer) -> Json | None:
    """The reply to a message; an empty object where none is expected."""
    message = json.loads(body)
    return answer(message) if "id" in message and "method" in message else {}


@contextmanager
def on_http(answer: Answer) -> Iterator[str]:
    """The URL of such a server."""
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            reply = answered(self.rfile.read(int(self.headers["Content-Length"])), answer)
            if reply is None:
                ended.wait()
            body = json.dumps(reply).encode() if reply else b""
            self.send_response(200 if body else 202)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Tests need no log."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *arguments: Any) -> None:
            """The driver hangs up when it has waited long enough."""

    with Server(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp"
        finally:
            ended.set()
            server.shutdown()
            serving.join()


def main(name: str) -> None:
    for line in sys.stdin:
        if reply := answered(line, globals()[name]):
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
