"""Streams that end at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.evidence import calls_of, endpoint_calls
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

ROW = "HOSTILE-14"
BUSY: Final = "busy"
SECONDS: Final = 1.5
"""How long that call takes."""
MOST: Final = 30
"""Streams in that time: who opens more does nothing else."""


@check("A stream that ends at once is not opened over and over", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    opened = [one.request for one in endpoint_calls(trace, "GET")]
    for one in calls_of(trace, BUSY):
        if one.answer is not None and opened:
            begin, end = one.request.frame.n, one.answer.frame.n
            during = [frame for frame in opened if begin < frame.n < end]
            expected, observed = f"at most {MOST} in {SECONDS:g} seconds", f"{len(during)} of them"
            yield observe(ROW, len(during) <= MOST, one, *during[:2], expected=expected, observed=observed)
