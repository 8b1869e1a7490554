"""What was not declared is not announced."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.offering import PROMPTS, judge_unannounced


@check("Only declared changes of prompts are announced", rows=("PR-14",))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_unannounced(trace, "PR-14", PROMPTS)
