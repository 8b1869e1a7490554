"""Names of tools that differ in upper and lower case are different names."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.tool_call import listed_tools, succeeded, tool_calls


@check("Tool names are case-sensitive", rows=("TL-08",))
def judge(trace: Trace) -> Iterator[Observation]:
    listed = listed_tools(trace)
    working = {call.name.casefold() for call in tool_calls(trace) if call.succeeded}
    for exchange in trace.exchanges("tools/call"):
        name = exchange.params.get("name")
        if exchange.answer is None or not isinstance(name, str) or name in listed:
            continue
        if name.casefold() in working:
            yield observe(
                "TL-08",
                not succeeded(exchange),
                exchange,
                expected=f"{name!r} to be another name than the tool's",
                observed="the tool was called",
            )
