"""Schemas that a server publishes are valid in their dialect, and that dialect is the recommended one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.trace.json_schema import DIALECT, dialect_of, dialect_problem
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Evidence, Observation, observe


@check("Published schemas are valid in their dialect", rows=("JS-04", "JS-06"))
def judge(trace: Trace) -> Iterator[Observation]:
    for name, schema, evidence in _schemas(trace):
        problem = dialect_problem(schema)
        expected = f"a schema of {name} that is valid in its dialect"
        yield observe("JS-04", problem is None, evidence, expected=expected, observed=problem)
        said = dialect_of(schema)
        yield observe("JS-06", said == DIALECT, evidence, expected=DIALECT, observed=f"{name}: {said}")


def _schemas(trace: Trace) -> Iterator[tuple[str, dict[str, Any], Evidence]]:
    for exchange in trace.exchanges("tools/list"):
        for tool in exchange.objects("tools"):
            for key in ("inputSchema", "outputSchema"):
                if isinstance(tool.get(key), dict):
                    yield f"{tool.get('name')}.{key}", tool[key], exchange
    for message in trace.received:
        if message.method == "elicitation/create" and isinstance(message.params.get("requestedSchema"), dict):
            yield "requestedSchema", message.params["requestedSchema"], message
