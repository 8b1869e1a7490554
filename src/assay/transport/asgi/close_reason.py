"""Why a WebSocket connection ends."""

from __future__ import annotations

from typing import Final, NamedTuple

from assay.protocol.framing.websocket import GOING_AWAY, INTERNAL, POLICY, TRY_AGAIN, UNSUPPORTED
from assay.protocol.http.busy import REASON


class CloseReason(NamedTuple):
    """The code and reason of a close frame. Without a code, none is sent: the client has disconnected."""

    code: int | None
    reason: str = ""


DISCONNECTED: Final = CloseReason(None)
STOPPING: Final = CloseReason(GOING_AWAY, "the server is stopping")
BINARY: Final = CloseReason(UNSUPPORTED, "binary frames are not supported: send text")
TOO_SLOW: Final = CloseReason(POLICY, "the client does not read fast enough")
BUSY: Final = CloseReason(TRY_AGAIN, REASON)
FAILED: Final = CloseReason(INTERNAL, "internal error")
