"""A server that declares tools lists them."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.offering import TOOLS, judge_available


@check("Declared tools can be listed", rows=("TL-03",))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_available(trace, "TL-03", TOOLS)
