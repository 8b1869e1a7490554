"""Prompts are listed with what a user needs to choose one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.declaring import official_check
from assay.lab.everything.listed import judge_list, lacking
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "prompts-list"


@official_check(ROW, "Prompts are listed in full", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_list(trace, ROW, "prompts", _problem)


def _problem(prompt: dict[str, Any]) -> str | None:
    return lacking(prompt, "name", "description")
