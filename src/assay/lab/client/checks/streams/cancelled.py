"""A client that gives up a request says so: that it leaves the stream means nothing."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import given_up
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation


@check("A request that is given up is cancelled in words", rows=("HTTP-19",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    return given_up("HTTP-19", trace)
