"""What a server writes to standard error is no error."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import went_on
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation

COMPLAINING = "complaining"


@check("Output on standard error is no error", rows=("STD-04",), transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from went_on("STD-04", trace, COMPLAINING, "the client to go on after output on standard error")
