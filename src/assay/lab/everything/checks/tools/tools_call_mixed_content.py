"""The content of a tool's result has several kinds of content."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.content import image_problem, judge_content, resource_problem, text_problem
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "tools-call-mixed-content"


@official_check(ROW, "A tool answers with several kinds of content", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_content(
        trace,
        ROW,
        "test_multiple_content_types",
        text=text_problem,
        image=image_problem,
        resource=resource_problem,
    )
