"""The states of a WebSocket connection, and the scope that its application gets."""

from __future__ import annotations

from enum import Enum
from typing import Final

from assay.protocol.http.asgi import AsgiScope
from assay.protocol.http.upgrade import Upgrade

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
