"""What a tool returns as structured content fits the schema that it publishes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.json_schema import value_problem
from assay.lab.harness.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe


@check("Structured content fits the output schema", rows=("TL-15",))
def judge(trace: Trace) -> Iterator[Observation]:
    schemas = {
        tool["name"]: tool["outputSchema"]
        for exchange in trace.exchanges("tools/list")
        for tool in exchange.objects("tools")
        if isinstance(tool.get("name"), str) and "outputSchema" in tool
    }
    for exchange in trace.exchanges("tools/call"):
        if _succeeded(exchange) and str(exchange.params.get("name")) in schemas:
            problem = _problem(exchange.result or {}, schemas[str(exchange.params["name"])])
            yield observe(
                "TL-15",
                problem is None,
                exchange,
                expected="`structuredContent` that fits the tool's `outputSchema`",
                observed=problem,
            )


def _succeeded(exchange: Exchange) -> bool:
    """A failed call, or one that asks the client first, has nothing to show yet."""
    result = exchange.result
    return result is not None and not result.get("isError") and "inputRequests" not in result


def _problem(result: dict[str, Any], schema: Any) -> str | None:
    if "structuredContent" not in result:
        return "no `structuredContent`"
    return value_problem(result["structuredContent"], schema)
