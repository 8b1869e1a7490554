"""On one channel, a notification belongs to the subscription that it names."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe

FOREIGN, OWN = "a foreign notification", "a notification of its own"
"""Marks: of what follows, the first is of no subscription of the client's."""
ROWS = ("STD-08", "SUB-07")


@check("Notifications are told apart by their subscription", rows=ROWS, transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    own = next((mark.n for mark in trace.marks(OWN)), len(trace.frames))
    for foreign in trace.marks(FOREIGN):
        listed = [one.request.frame for one in trace.inquiries("tools/list")]
        early = [one for one in listed if foreign.n < one.n < own]
        late = [one for one in listed if one.n > own]
        for row in ROWS:
            if early or late:
                expected = "nothing to be done about a notification of another subscription"
                observed = "the tools were listed again"
                yield observe(
                    row, not early, foreign, *early, *late[:1], expected=expected, observed=observed
                )
