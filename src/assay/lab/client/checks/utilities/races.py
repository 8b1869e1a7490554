"""Answers and cancellations that pass each other on the way."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import ENDLESS, went_on
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "CAN-08"


@check("A late answer does no harm", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    return went_on(ROW, trace, ENDLESS, "the client to go on after an answer that it had given up")
