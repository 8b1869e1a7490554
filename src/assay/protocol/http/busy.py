"""The refusal of a request that the server could serve at another time: status 503 with `Retry-After`."""

from __future__ import annotations

from math import ceil
from typing import Final

from assay.model.error import STOPPING, Busy
from assay.model.jsonrpc import RequestId

from .head_policy import Refusal

UNAVAILABLE: Final = 503
NO_MEMORY: Final = "server is busy: too many bytes in flight"


def retry_after(seconds: float = 1) -> tuple[bytes, bytes]:
    """The header of a refusal. Most limits have room again within a second."""
    return b"retry-after", b"%d" % ceil(seconds)


def unavailable(reason: str, *, seconds: float = 1, request_id: RequestId | None = None) -> Refusal:
    """Refuse a request because a limit is reached. The client may send it again after so many seconds."""
    error = Busy(reason)
    return Refusal(UNAVAILABLE, error.message, (retry_after(seconds),), error.code, request_id)


def refusal_while_stopping(drain: float) -> Refusal:
    """Refuse a new request of a server that ends in `drain` seconds at the latest. Another process may have
    taken its place by then, so that is when to try again."""
    return unavailable(STOPPING, seconds=drain)
