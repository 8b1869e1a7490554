"""A change of the list of prompts is announced."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.offering import PROMPTS, judge_change_told


@check("Changes of the list of prompts are announced", rows=("PR-02",))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_change_told(trace, "PR-02", PROMPTS)
