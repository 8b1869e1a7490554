"""What is stale is fetched again when it is wanted, and not before."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, calls_of
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

LIST, SLOW = "tools/list", "slow"
ROWS = {0: "CA-08"}
POLLED = 3
"""Requests while nobody wants anything: as many make a poll."""


@check("Stale answers are fetched again on demand", rows=("CA-08", "CA-09", "CA-10"))
def judge(trace: Trace) -> Iterator[Observation]:
    after = calls_of(trace, AFTER)[:1]
    slow = [one for one in calls_of(trace, SLOW) if one.answer is not None][:1]
    for exchange, end in ((slow[0], after[0]) for _ in after if slow):
        yield from _judged(trace, exchange, end)


def _judged(trace: Trace, slow: Exchange, after: Exchange) -> Iterator[Observation]:
    """Before the slow call the list was said to be stale at once, or soon; after it, it is wanted again."""
    assert slow.answer is not None
    begin, end, last = slow.request.frame.n, slow.answer.frame.n, after.request.frame.n
    listed = [one for one in trace.inquiries(LIST)]
    during = [one for one in listed if begin < one.request.frame.n < end]
    later = [one for one in listed if end < one.request.frame.n < last]
    before = [one for one in listed if one.request.frame.n < begin]
    expected, observed = "no requests that nobody asked for", f"{len(during)} times {LIST}"
    yield observe("CA-10", len(during) < POLLED, slow, *during[:POLLED], expected=expected, observed=observed)
    if before and not during:
        row = ROWS.get((before[-1].result or {}).get("ttlMs", 0), "CA-09")
        expected, observed = f"{LIST} again, when it was stale", "none"
        yield observe(row, bool(later), before[-1], *later[:1], after, expected=expected, observed=observed)
