"""Serving an ASGI application, such as an authorization server, next to the endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote, urlsplit

from .http_reply import HttpReply
from .http_server import InboundRequest

Scope = MutableMapping[str, Any]
AsgiApp = Callable[[Scope, Callable[..., Awaitable[Any]], Callable[..., Awaitable[None]]], Awaitable[None]]


async def serve_asgi(app: AsgiApp, request: InboundRequest, reply: HttpReply) -> None:
    """Answer a request with an ASGI application."""
    status, headers, body = 500, [], b""
    messages = iter([{"type": "http.request", "body": request.body, "more_body": False}])

    async def receive() -> Any:
        message = next(messages, None)
        if message is None:
            await asyncio.Event().wait()
        return message

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal status, headers, body
        if message["type"] == "http.response.start":
            status = message["status"]
            headers = [
                (name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"]
            ]
        else:
            body += message.get("body", b"")

    await app(_scope(request), receive, send)
    await reply.respond(status, body, [pair for pair in headers if pair[0].lower() != "content-length"])


def _scope(request: InboundRequest) -> Scope:
    target = urlsplit(request.head.target)
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(target.path),
        "raw_path": target.path.encode(),
        "query_string": target.query.encode(),
        "root_path": "",
        "headers": [
            (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in request.head.headers
        ],
        "client": ("127.0.0.1", 0),
        "server": None,  # the client's Host header decides
    }
