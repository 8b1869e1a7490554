"""Three questions come at once, and are answered at once."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.input_round import Wanted, asked_then_done, asking_tool
from assay.lab.harness.driver.question import ELICIT, ROOTS, SAMPLE
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

FIRST, LAST = "sep-2322-multiple-inputs-incomplete", "sep-2322-multiple-inputs-complete"
WANTED = Wanted((ELICIT, SAMPLE, ROOTS), state=True)


@official_check(
    "input-required-result-multiple-input-requests",
    "Three questions come at once, and are answered at once",
    rows=(FIRST, LAST),
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from asked_then_done(trace, asking_tool("multiple_inputs"), FIRST, LAST, WANTED)
