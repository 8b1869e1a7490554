"""Every tool has an input schema that is a JSON Schema of an object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.trace.json_schema import schema_problem
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("Every tool has a valid input schema", rows=("TL-06",))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("tools/list"):
        for tool in exchange.items("tools"):
            problem = _problem(tool)
            yield observe(
                "TL-06",
                problem is None,
                exchange,
                expected="an `inputSchema` that is a valid JSON Schema with type object",
                observed=problem,
            )


def _problem(tool: Any) -> str | None:
    if not isinstance(tool, dict):
        return f"a tool that is no object: {tool!r}"
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return f"{tool.get('name')}: inputSchema {schema!r}"
    problem = schema_problem(schema)
    return problem and f"{tool.get('name')}: {problem}"
