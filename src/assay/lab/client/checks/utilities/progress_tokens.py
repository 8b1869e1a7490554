"""Tokens by which a client wants to hear of progress."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.client.evidence import turned_away
from assay.lab.harness.check import check
from assay.lab.harness.message import same_id
from assay.lab.harness.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

KIND, UNIQUE = "PRG-01", "PRG-02"
MISSING = object()


@check("Progress tokens are good, and each is one request's", rows=(KIND, UNIQUE), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    asking = [one for one in trace.inquiries() if _token(one) is not MISSING and not turned_away(one)]
    for place, exchange in enumerate(asking):
        token = _token(exchange)
        holds = type(token) in (str, int)
        expected = "a string or an integer"
        yield observe(KIND, holds, exchange.request, expected=expected, observed=f"{token!r}")
        for other in asking[:place]:
            if _at_once(other, exchange):
                holds = not same_id(_token(other), token)
                expected = "another token than that of a request that is not done"
                seen = (other.request, exchange.request)
                yield observe(UNIQUE, holds, *seen, expected=expected, observed=f"{token!r} twice")


def _token(exchange: Exchange) -> Any:
    meta = exchange.params.get("_meta")
    return meta.get("progressToken", MISSING) if isinstance(meta, dict) else MISSING


def _at_once(earlier: Exchange, later: Exchange) -> bool:
    """Whether the one was surely not answered when the other was sent."""
    same = earlier.request.frame.connection == later.request.frame.connection
    return same and (earlier.answer is None or earlier.answer.frame.n > later.request.frame.n)
