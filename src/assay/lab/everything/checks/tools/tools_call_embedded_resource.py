"""The content of a tool's result has an embedded resource."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.content import judge_content, resource_problem
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "tools-call-embedded-resource"


@official_check(ROW, "A tool answers with an embedded resource", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_content(trace, ROW, "test_embedded_resource", resource=resource_problem)
