"""The list of prompts does not depend on who asks and on what was asked before."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.offering import PROMPTS, judge_same_for_all


@check("The list of prompts is the same on every connection", rows=("PR-04",))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_same_for_all(trace, "PR-04", PROMPTS)
