"""A tool that fails says so in its result, where a model can read it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.tool_call import tool_calls
from assay.model.error import INTERNAL_ERROR


@check("Failures of a tool are results", rows=("TL-20",))
def judge(trace: Trace) -> Iterator[Observation]:
    for call in tool_calls(trace):
        # Other codes may be about the request: what is missing in it, who sent it, how often.
        broken = call.exchange.code == INTERNAL_ERROR and call.misfit is None
        if broken or call.exchange.result is not None:
            yield observe(
                "TL-20",
                not broken,
                call,
                expected="a result with `isError`, since the tool was found and its arguments fit",
                observed=call.exchange,
            )
