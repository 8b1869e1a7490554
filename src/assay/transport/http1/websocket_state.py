"""The states of a WebSocket connection, how it is refused, and the scope that its application gets."""

from __future__ import annotations

from enum import Enum
from typing import Final

from assay.model.error import Busy
from assay.protocol.framing.websocket import TRY_AGAIN, Violation
from assay.protocol.http.asgi import AsgiScope
from assay.protocol.http.busy import NO_MEMORY
from assay.protocol.http.upgrade import Upgrade

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
