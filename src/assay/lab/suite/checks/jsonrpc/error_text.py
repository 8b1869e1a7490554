"""An error is explained in one short sentence: no stack trace, no report."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

LONGEST = 400
"""Characters. The schema only says "concise"; what is longer than this is not."""


@check("An error message is one concise sentence", rows=("BASE-16",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.spoken:
        text = message.error.get("message")
        if message.is_response and isinstance(text, str):
            yield observe(
                "BASE-16",
                bool(text.strip()) and len(text) <= LONGEST and len(text.splitlines()) == 1,
                message,
                expected="one short sentence",
                observed=f"{len(text)} characters in {len(text.splitlines())} lines: {text[:80]!r}",
            )
