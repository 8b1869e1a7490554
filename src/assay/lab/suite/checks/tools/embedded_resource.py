"""A server that puts resources into results has resources."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.declaration import declaration
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.tool_call import tool_calls


@check("A server that embeds resources implements them", rows=("TL-18",))
def judge(trace: Trace) -> Iterator[Observation]:
    said = declaration(trace)
    for call in tool_calls(trace):
        if said is not None and any(block.get("type") == "resource" for block in call.blocks):
            yield observe(
                "TL-18",
                said.has("resources"),
                said,
                call,
                expected="`resources` among the declared capabilities",
                observed=f"declared: {', '.join(said.capabilities) or 'nothing'}",
            )
