"""What a tool returns as structured content fits the schema that it publishes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.trace.json_schema import value_problem
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.tool_call import tool_calls


@check("Structured content fits the output schema", rows=("TL-15",))
def judge(trace: Trace) -> Iterator[Observation]:
    for call in tool_calls(trace):
        if call.succeeded and "outputSchema" in call.tool:
            problem = _problem(call.result, call.tool["outputSchema"])
            yield observe(
                "TL-15",
                problem is None,
                call,
                expected="`structuredContent` that fits the tool's `outputSchema`",
                observed=problem,
            )


def _problem(result: dict[str, Any], schema: Any) -> str | None:
    if "structuredContent" not in result:
        return "no `structuredContent`"
    return value_problem(result["structuredContent"], schema)
