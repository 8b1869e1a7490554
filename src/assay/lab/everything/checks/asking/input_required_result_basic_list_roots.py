"""A tool asks for roots by a result, and goes on with them."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.input_round import Wanted, asked_then_done, asking_tool
from assay.lab.harness.driver.question import ROOTS
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

FIRST, LAST = "sep-2322-list-roots-incomplete", "sep-2322-list-roots-complete"
WANTED = Wanted((ROOTS,))


@official_check(
    "input-required-result-basic-list-roots",
    "A tool asks for roots by a result, and goes on with them",
    rows=(FIRST, LAST),
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from asked_then_done(trace, asking_tool("list_roots"), FIRST, LAST, WANTED)
