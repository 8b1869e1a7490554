"""Answers that nobody asked for are no obstacle."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.input_round import asking_tool, brings_answers, done, rounds
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "sep-2322-ignore-unexpected-params"


@official_check("input-required-result-ignore-extra-params", "Answers too many are ignored", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in filter(brings_answers, rounds(trace, asking_tool("elicitation"))):
        yield done(ROW, exchange)
