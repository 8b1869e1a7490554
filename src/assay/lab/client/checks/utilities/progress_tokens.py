"""Tokens by which a client wants to hear of progress."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.client.evidence import turned_away
from assay.lab.harness.check import check
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

KIND, UNIQUE = "PRG-01", "PRG-02"
MISSING = object()


@check("Progress tokens are good, and each is one request's", rows=(KIND, UNIQUE), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    waiting: list[Exchange] = []
    for exchange in trace.inquiries():
        token = _token(exchange)
        if token is MISSING or turned_away(exchange):
            continue
        expected = "a string or an integer"
        yield observe(
            KIND, type(token) in (str, int), exchange.request, expected=expected, observed=f"{token!r}"
        )
        waiting = [other for other in waiting if not _is_done(other, exchange)]
        for other in waiting:
            if other.request.frame.connection == exchange.request.frame.connection:
                holds = not same_id(_token(other), token)
                expected = "another token than that of a request that is not done"
                seen = (other.request, exchange.request)
                yield observe(UNIQUE, holds, *seen, expected=expected, observed=f"{token!r} twice")
        waiting.append(exchange)


def _token(exchange: Exchange) -> Any:
    meta = exchange.params.get("_meta")
    return meta.get("progressToken", MISSING) if isinstance(meta, dict) else MISSING


def _is_done(earlier: Exchange, later: Exchange) -> bool:
    """Whether the one may have been answered when the other was sent."""
    return earlier.answer is not None and earlier.answer.frame.n < later.request.frame.n
