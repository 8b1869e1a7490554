"""How a WebSocket is accepted (RFC 6455, section 4.2.2)."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha1
from typing import Final

GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
SUBPROTOCOL: Final = "mcp"


def accepting(key: str, *subprotocols: str) -> list[tuple[str, str]]:
    """The headers of the answer to an upgrade with that key."""
    accepted = b64encode(sha1(key.encode() + GUID).digest()).decode()
    chosen = [("Sec-WebSocket-Protocol", one) for one in subprotocols]
    return [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accepted), *chosen]
