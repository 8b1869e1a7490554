"""An HTTP server that repeats the credentials it receives, in every place it can."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class Echo(BaseHTTPRequestHandler):
    required: str | None = None
    """The value of `Authorization` without which nobody gets in."""

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.required is not None and self.headers["Authorization"] != self.required:
            self._send(401, b"")
        elif "id" not in message:
            self._send(202, b"")
        else:
            self._send(
                200, json.dumps({"jsonrpc": "2.0", "id": message["id"], **self._answer(message)}).encode()
            )

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        credentials = f"{self.headers['Authorization']} {self.headers['X-Secret']} {self.path}"
        if message["method"] == "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": credentials, "version": "1"}
            return {"result": {"protocolVersion": version, "capabilities": {}, "serverInfo": info}}
        if message["method"] == "ping":
            return {"result": {"_meta": {"seen": credentials}}}
        return {"error": {"code": -32600, "message": f"not for {credentials}"}}

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Seen", str(self.headers["Authorization"]))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Tests need no log."""


@contextmanager
def echoing(required: str | None = None) -> Iterator[str]:
    """The URL of such a server."""
    handler = type("Handler", (Echo,), {"required": required})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
        finally:
            server.shutdown()
            thread.join()
