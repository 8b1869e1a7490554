"""Arguments that a tool's own schema refuses are refused by the tool, in the way that the revision wants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.tool_call import ToolCall, tool_calls
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS

BLAMED: Final = frozenset({INVALID_PARAMS, INTERNAL_ERROR})
"""Errors that can only be about the arguments, when the same tool works with others."""


@check("Arguments that do not fit are refused", rows=("TL-21", "TL-23"))
def judge(trace: Trace) -> Iterator[Observation]:
    calls = list(tool_calls(trace))
    working = {call.name for call in calls if call.succeeded and call.misfit is None}
    for call in calls:
        misfit = call.misfit
        if misfit is not None and (call.succeeded or call.name in working):
            yield from _judge(call, misfit)


def _judge(call: ToolCall, misfit: str) -> Iterator[Observation]:
    expected = f"a refusal, since the arguments do not fit the tool's `inputSchema`: {misfit}"
    yield observe("TL-23", not call.succeeded, call, expected=expected, observed=call.exchange)
    if call.failed or call.exchange.code in BLAMED:
        expected = "a result with `isError` that tells a model what is wrong with its arguments"
        yield observe("TL-21", call.failed, call, expected=expected, observed=call.exchange)
