"""A message does not go over several lines: the same rule as for servers."""

from __future__ import annotations

from collections.abc import Iterable

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation
from assay.lab.suite.checks.framing import whole_lines


@check("A message is one line", rows=("STD-01",), everywhere=True, transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterable[Observation]:
    return whole_lines.judge.judge(trace)
