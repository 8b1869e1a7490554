"""An error has an integer code and a text."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("An error has a code and a message", rows=("BASE-08",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.spoken:
        if message.is_response and "error" in message.fields:
            code, text = message.error.get("code"), message.error.get("message")
            yield observe(
                "BASE-08",
                type(code) is int and isinstance(text, str),
                message,
                expected="an integer `code` and a string `message`",
                observed=f"{message.fields['error']!r}",
            )
