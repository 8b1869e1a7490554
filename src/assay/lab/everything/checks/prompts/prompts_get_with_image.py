"""A prompt may hold an image."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.content import blocks_problem, image_problem
from assay.lab.everything.declaring import official_check
from assay.lab.everything.prompting import blocks_of, judge_prompt
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation

ROW = "prompts-get-with-image"


@official_check(ROW, "A prompt holds an image", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    expected = "a message whose content is an image"
    yield from judge_prompt(trace, ROW, "test_prompt_with_image", expected, _problem)


def _problem(exchange: Exchange) -> str | None:
    return blocks_problem(blocks_of(exchange), {"image": image_problem})
