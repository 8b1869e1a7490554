"""State that was never given out is refused, where what was given out is taken."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.input_round import (
    Wanted,
    asked,
    asking_tool,
    brings_answers,
    done,
    rounds,
    state_in,
)
from assay.lab.harness.driver.question import ELICIT
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import METHOD_NOT_FOUND

ROW = "sep-2322-reject-tampered-state"
WANTED = Wanted((ELICIT,), state=True)


@official_check("input-required-result-tampered-state", "Changed state is refused", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    found = rounds(trace, asking_tool("tampered_state"))
    issued = [state_in(one) for one in found]
    for exchange in found:
        if not brings_answers(exchange):
            yield asked(ROW, exchange, WANTED)
        elif exchange.params.get("requestState") in issued:
            yield done(ROW, exchange)
        else:
            refused = exchange.code is not None and exchange.code != METHOD_NOT_FOUND
            expected = "an error, such as -32602: this state was never given out"
            yield observe(ROW, refused, exchange, expected=expected, observed=exchange)
