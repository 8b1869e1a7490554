"""A server that has prompts says so."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.offering import PROMPTS, judge_declared


@check("A server with prompts declares them", rows=("PR-01",))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_declared(trace, "PR-01", PROMPTS)
