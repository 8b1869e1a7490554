"""The states and limits of a WebSocket connection, its first response, and the scope of its application."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final

from assay.model.error import Busy
from assay.protocol.framing.websocket import TRY_AGAIN, Violation
from assay.protocol.http.asgi import AsgiScope, Message
from assay.protocol.http.busy import NO_MEMORY
from assay.protocol.http.upgrade import Upgrade, accept_key

from .response_head import CLOSE, head_lines

QUEUE_BYTES: Final = 64 * 1024
"""Size of the messages that may wait for the application before reading pauses."""
ENTRY_BYTES: Final = 256
"""Memory that a queued message takes besides its text: a million empty messages must count, too."""
CLOSE_TIMEOUT: Final = 5.0
"""Seconds that a client has to answer a close frame, or to close the connection after it was refused."""
NO_ROOM: Final = Violation(TRY_AGAIN, Busy(NO_MEMORY).message)
TOO_MUCH: Final = Violation(TRY_AGAIN, Busy("too much input at once").message)
SCHEMES: Final = {"http": "ws", "https": "wss"}


class SocketState(Enum):
    REQUESTED = "requested"
    """The application has not accepted or refused the client yet."""
    REFUSING = "refusing"
    OPEN = "open"
    CLOSING = "closing"
    """We have sent a close frame; the client's is outstanding."""
    CLOSED = "closed"
    """Nothing more is sent, and input is ignored."""


def websocket_scope(scope: AsgiScope, upgrade: Upgrade) -> AsgiScope:
    shared = {name: value for name, value in scope.items() if name != "method"}
    return {
        **shared,
        "type": "websocket",
        "scheme": SCHEMES[scope["scheme"]],
        "subprotocols": list(upgrade.subprotocols),
        "extensions": {**scope.get("extensions", {}), "websocket.http.response": {}},
    }


def accept_head(key: bytes, message: Message) -> bytes:
    """The response that opens a WebSocket."""
    headers = [(b"upgrade", b"websocket"), (b"sec-websocket-accept", accept_key(key))]
    if message.get("subprotocol") is not None:
        headers.append((b"sec-websocket-protocol", message["subprotocol"].encode("ascii")))
    return head_lines(101, [*headers, *message.get("headers", ())]) + b"connection: Upgrade\r\n\r\n"


def refusal_lines(status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The head of any other response, up to its date."""
    return head_lines(status, list(headers)) + CLOSE
