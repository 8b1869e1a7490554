"""Answers of some megabytes, and ones with lists in lists in lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.fixtures.hostility import undeterred
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "HOSTILE-05"
LARGE: Final = "large"
DEEP: Final = "deep"


@check("An answer that is too much ends nothing", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    return undeterred(ROW, trace, (LARGE, DEEP), "the client to go on, whatever became of that call")
