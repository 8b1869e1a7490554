"""A server that declares prompts lists them."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.offering import PROMPTS, judge_available


@check("Declared prompts can be listed", rows=("PR-03",))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_available(trace, "PR-03", PROMPTS)
