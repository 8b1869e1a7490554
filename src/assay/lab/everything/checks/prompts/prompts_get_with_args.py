"""The arguments of a prompt are filled in."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.prompting import judge_prompt, text_of
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation

ROW = "prompts-get-with-args"


@official_check(ROW, "A prompt's arguments are filled in", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    expected = "messages in which the value of every argument appears"
    yield from judge_prompt(trace, ROW, "test_prompt_with_arguments", expected, _problem)


def _problem(exchange: Exchange) -> str | None:
    given = exchange.params.get("arguments")
    text = text_of(exchange)
    values = [str(value) for value in given.values()] if isinstance(given, dict) else []
    missing = [value for value in values if value not in text]
    return f"{text!r} without {', '.join(missing)}" if missing else None
