"""A tool asks its user by a result, and goes on with the answer."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.input_round import USER_NAME, Wanted, asked_then_done, asking_tool
from assay.lab.harness.driver.question import ELICIT
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

FIRST, LAST = "sep-2322-elicitation-incomplete", "sep-2322-elicitation-complete"
WANTED = Wanted((ELICIT,), key=USER_NAME)


@official_check(
    "input-required-result-basic-elicitation",
    "A tool asks its user by a result, and goes on with the answer",
    rows=(FIRST, LAST),
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from asked_then_done(trace, asking_tool("elicitation"), FIRST, LAST, WANTED)
