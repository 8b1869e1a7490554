"""Answers that are none are not taken, where a right one is."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.input_round import USER_NAME, asking_tool, brings_answers, rounds
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.retrying import succeeded
from assay.lab.suite.self_description import as_object

UNFIT, MALFORMED = "sep-2322-validate-input-responses", "sep-2322-error-on-protocol-error"
ROWS = (UNFIT, MALFORMED)


@official_check("input-required-result-validate-input", "Answers are looked at", rows=ROWS)
def judge(trace: Trace) -> Iterator[Observation]:
    found = [one for one in rounds(trace, asking_tool("elicitation")) if brings_answers(one)]
    given = [(one, one.params.get("inputResponses")) for one in found]
    fitting = [one for one, answers in given if isinstance(as_object(answers).get(USER_NAME), dict)]
    # Who takes no answer at all has not looked at these either.
    if not any(succeeded(one) for one in fitting):
        return
    for exchange, answers in given:
        if exchange not in fitting:
            row = UNFIT if isinstance(answers, dict) else MALFORMED
            expected = f"an error, or the question again: `inputResponses` was {answers!r}"
            yield observe(row, not succeeded(exchange), exchange, expected=expected, observed=exchange)
