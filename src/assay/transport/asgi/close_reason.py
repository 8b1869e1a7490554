"""Why a WebSocket connection ends."""

from __future__ import annotations

from typing import Final, NamedTuple

from assay.model import error
from assay.protocol.framing.websocket import GOING_AWAY, INTERNAL, POLICY, TRY_AGAIN, UNSUPPORTED
from assay.protocol.http.busy import NO_MEMORY


class CloseReason(NamedTuple):
    """The code and reason of a close frame. Without a code, none is sent: the client has disconnected."""

    code: int | None
    reason: str = ""


DISCONNECTED: Final = CloseReason(None)
STOPPING: Final = CloseReason(GOING_AWAY, error.STOPPING)
BINARY: Final = CloseReason(UNSUPPORTED, "binary frames are not supported: send text")
TOO_SLOW: Final = CloseReason(POLICY, "the client does not read fast enough")
BUSY: Final = CloseReason(TRY_AGAIN, error.Busy(NO_MEMORY).message)
TOO_MANY_LARGE: Final = CloseReason(TRY_AGAIN, error.Busy("too many large messages").message)
FAILED: Final = CloseReason(INTERNAL, "internal error")
