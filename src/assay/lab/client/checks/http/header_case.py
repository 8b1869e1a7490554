"""Names of headers mean the same in any case."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import went_on
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation

ODD = "odd_case"


@check("Header names are read in any case", rows=("HTTP-61",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from went_on("HTTP-61", trace, ODD, "an answer with odd header names to be understood")
