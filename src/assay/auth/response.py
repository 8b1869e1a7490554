"""Responses sent in place of the application, in plain ASGI."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assay.protocol.http.asgi import AsgiScope, Receive, Transmit
from assay.protocol.http.head_policy import JSON, Refusal

Pairs = Iterable[tuple[bytes, bytes]]

POLICY: Final = 1008
KINDS: Final = {"http": "http.response", "websocket": "websocket.http.response"}


async def respond(
    scope: AsgiScope, receive: Receive, send: Transmit, answer: tuple[int, Pairs, bytes]
) -> None:
    """Send a response. A WebSocket is refused with it before the handshake; a server without that extension
    turns the close into a bare 403."""
    status, headers, body = answer
    kind = KINDS[scope["type"]]
    if scope["type"] == "websocket":
        if (await receive())["type"] != "websocket.connect":
            return
        if kind not in (scope.get("extensions") or {}):
            return await send({"type": "websocket.close", "code": POLICY, "reason": ""})
    # A 204 has no body and no Content-Length (RFC 9110, 8.6).
    length = [] if status == 204 else [(b"content-length", b"%d" % len(body))]
    await send({"type": f"{kind}.start", "status": status, "headers": [*headers, *length]})
    return await send({"type": f"{kind}.body", "body": body})


async def refuse(scope: AsgiScope, receive: Receive, send: Transmit, refusal: Refusal) -> None:
    await respond(scope, receive, send, (refusal.status, (JSON, *refusal.headers), refusal.body()))
