"""A server that died is started again, and listened to as before."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import is_over
from assay.lab.harness.check import check
from assay.lab.harness.scripted_server.stdio_listener import STARTED
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe

DIED = "died"
"""The mark of a scenario whose server ends of itself."""
LISTEN = "subscriptions/listen"


@check("A server that died is started again", rows=("STD-13", "SUB-09"), transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for died in trace.marks(DIED):
        again = [one for one in trace.marks(STARTED) if one.n > died.n]
        if again or is_over(trace):
            expected, observed = "the server to be started again", "it was not"
            yield observe("STD-13", bool(again), died, *again[:1], expected=expected, observed=observed)
        if again:
            yield from _listened(trace, died, again[0])


def _listened(trace: Trace, died: Frame, again: Frame) -> Iterator[Observation]:
    listened = [one for one in trace.inquiries(LISTEN)]
    before = [one for one in listened if one.request.frame.n < died.n]
    after = [one for one in listened if one.request.frame.connection == again.connection]
    used = [one for one in trace.inquiries("tools/call") if one.request.frame.connection == again.connection]
    # Who has not come to use the new process yet may still be about to listen.
    if before and (after or (used and is_over(trace))):
        yield observe(
            "SUB-09",
            bool(after),
            *before[:1],
            died,
            again,
            *after[:1],
            expected=f"{LISTEN} again, to the new process",
            observed="requests, and none of that",
        )
