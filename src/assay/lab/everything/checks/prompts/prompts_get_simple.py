"""A prompt has messages, and they say something."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.prompting import blocks_of, judge_prompt
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation

ROW = "prompts-get-simple"


@official_check(ROW, "A prompt has messages", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    expected = "at least one message, each with a role and content"
    yield from judge_prompt(trace, ROW, "test_simple_prompt", expected, _problem)


def _problem(exchange: Exchange) -> str | None:
    empty = [block for block in blocks_of(exchange) if block.get("type") == "text" and not block.get("text")]
    return f"a text that is empty: {empty[0]!r}" if empty else None
