"""The list of tools does not depend on who asks and on what was asked before, nor does its order."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.offering import TOOLS, judge_order, judge_same_for_all


@check("The list of tools is the same on every connection", rows=("TL-04", "TL-05"))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_same_for_all(trace, "TL-04", TOOLS)
    yield from judge_order(trace, "TL-05", TOOLS)
