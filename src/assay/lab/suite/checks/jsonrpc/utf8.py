"""What is not ASCII is UTF-8."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.envelope import is_utf8


@check("Messages are UTF-8", rows=("BASE-12",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.spoken:
        if not message.body.isascii():
            yield is_utf8(message)
