"""The server's side of the WebSocket handshake (RFC 6455, section 4.2.2)."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha1
from typing import Final

GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
SUBPROTOCOL: Final = "mcp"


def accept_headers(key: str, *subprotocols: str) -> list[tuple[str, str]]:
    """The headers of the response to an upgrade request with this key."""
    accept = b64encode(sha1(key.encode() + GUID).digest()).decode()
    chosen = [("Sec-WebSocket-Protocol", subprotocol) for subprotocol in subprotocols]
    return [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept), *chosen]
