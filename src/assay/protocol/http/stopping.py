"""The answer of a server that is stopping."""

from __future__ import annotations

from math import ceil

from assay.model.error import INTERNAL_ERROR

from .head_policy import Refusal


def refusal_while_stopping(drain: float) -> Refusal:
    """Refuse a new request of a server that ends in `drain` seconds at the latest. Another process may have
    taken its place by then, so that is when to try again."""
    retry_after = (b"retry-after", b"%d" % ceil(drain))
    return Refusal(503, "the server is stopping: try again later", (retry_after,), code=INTERNAL_ERROR)
