"""Where the answer that is needed is missing, it is asked for again."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.input_round import asked_in, asking_tool, brings_answers, rounds
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.retrying import wants_input

ROW = "sep-2322-missing-response-rerequests"


@official_check(
    "input-required-result-missing-input-response", "A missing answer is asked for again", rows=(ROW,)
)
def judge(trace: Trace) -> Iterator[Observation]:
    found = rounds(trace, asking_tool("elicitation"))
    wanted = {key for one in found if not brings_answers(one) for key in asked_in(one)}
    for exchange in filter(brings_answers, found):
        again = wants_input(exchange) and wanted <= asked_in(exchange).keys()
        expected = f"an `input_required` result that asks for {', '.join(sorted(wanted))} again"
        yield observe(ROW, again, exchange, expected=expected, observed=exchange)
