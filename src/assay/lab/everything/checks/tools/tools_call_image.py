"""The content of a tool's result has an image."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.content import image_problem, judge_content
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "tools-call-image"


@official_check(ROW, "A tool answers with an image", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_content(trace, ROW, "test_image_content", image=image_problem)
