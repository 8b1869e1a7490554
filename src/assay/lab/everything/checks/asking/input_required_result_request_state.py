"""What a client is given to keep comes with the question, and is taken back."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.input_round import Wanted, asked_then_done, asking_tool
from assay.lab.harness.driver.question import ELICIT
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

FIRST, LAST = "sep-2322-request-state-incomplete", "sep-2322-request-state-complete"
WANTED = Wanted((ELICIT,), state=True)


@official_check(
    "input-required-result-request-state",
    "What a client is given to keep comes with the question, and is taken back",
    rows=(FIRST, LAST),
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from asked_then_done(trace, asking_tool("request_state"), FIRST, LAST, WANTED)
