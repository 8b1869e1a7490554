"""A resource with binary data is read in full."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.answered import answered
from assay.lab.everything.content import Block, data_problem
from assay.lab.everything.declaring import official_check
from assay.lab.everything.reading import judge_contents
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "resources-read-binary"


@official_check(ROW, "Binary data is read in full", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "resources/read", uri="test://static-binary"):
        yield judge_contents(ROW, exchange, _problem)


def _problem(contents: Block) -> str | None:
    return data_problem("blob", contents)
