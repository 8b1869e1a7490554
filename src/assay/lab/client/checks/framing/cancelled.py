"""A client that gives up a request says so."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import given_up
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation


@check("A request that is given up is cancelled", rows=("STD-09",), transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    return given_up("STD-09", trace)
