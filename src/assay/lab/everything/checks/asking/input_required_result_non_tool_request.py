"""A prompt asks its user by a result, and goes on with the answer."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.input_round import Wanted, asked_then_done
from assay.lab.harness.driver.question import ELICIT
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

PROMPT = "test_input_required_result_prompt"
FIRST, LAST = "sep-2322-non-tool-incomplete", "sep-2322-non-tool-complete"


@official_check("input-required-result-non-tool-request", "Prompts may ask first, too", rows=(FIRST, LAST))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from asked_then_done(trace, PROMPT, FIRST, LAST, Wanted((ELICIT,)))
