"""A prompt that cannot be made is an error that JSON-RPC knows."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.prompt_get import prompt_gets
from assay.model.error import INTERNAL_ERROR

RESERVED = range(-32768, -32000 + 1)
"""Codes that JSON-RPC keeps for itself and for what is built on it. Among them a server may have a more
specific reason than "internal"; outside them nothing is a standard error."""


@check("Failures of prompts are standard errors", rows=("PR-11",))
def judge(trace: Trace) -> Iterator[Observation]:
    for get in prompt_gets(trace):
        answer = get.exchange.answer
        if answer is not None and answer.error and not get.missing and not get.untextual:
            yield observe(
                "PR-11",
                type(answer.code) is int and answer.code in RESERVED,
                get,
                expected=f"error {INTERNAL_ERROR}, or another of the standard codes",
                observed=get.exchange,
            )
