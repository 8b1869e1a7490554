"""Where structured content is an object by definition, so are the schema's root and what comes back."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.tool_call import tool_calls


@check("Output schemas and structured content are objects", rows=("TL-17",))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("tools/list"):
        for tool in exchange.objects("tools"):
            if "outputSchema" in tool:
                schema = tool["outputSchema"]
                yield observe(
                    "TL-17",
                    isinstance(schema, dict) and schema.get("type") == "object",
                    exchange,
                    expected="an `outputSchema` with type object",
                    observed=f"{tool.get('name')}: {schema!r}",
                )
    for call in tool_calls(trace):
        if "structuredContent" in call.result:
            given = call.result["structuredContent"]
            expected = "`structuredContent` that is an object"
            yield observe("TL-17", isinstance(given, dict), call, expected=expected, observed=repr(given))
