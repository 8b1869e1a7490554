"""A resource with a text is read in full."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.answered import answered
from assay.lab.everything.content import text_problem
from assay.lab.everything.declaring import official_check
from assay.lab.everything.reading import judge_contents
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "resources-read-text"


@official_check(ROW, "A text is read in full", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "resources/read", uri="test://static-text"):
        yield judge_contents(ROW, exchange, text_problem)
