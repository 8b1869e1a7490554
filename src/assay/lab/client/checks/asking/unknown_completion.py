"""The end of what a client does not know."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import went_on
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "EL-18"


@check("The end of an unknown elicitation is ignored", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    return went_on(
        ROW, trace, "announcing", "the client to go on after a notification that means nothing to it"
    )
