"""A tool that is not there is a protocol error, with the code that the specification gives it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INVALID_PARAMS


@check("A tool that does not exist is refused with -32602", rows=("TL-19",))
def judge(trace: Trace) -> Iterator[Observation]:
    lists = [one for one in trace.exchanges("tools/list") if one.result is not None]
    listed = [tool.get("name") for exchange in lists for tool in exchange.objects("tools")]
    for exchange in trace.exchanges("tools/call"):
        if lists and exchange.params.get("name") not in listed and exchange.answer is not None:
            yield observe(
                "TL-19",
                exchange.code == INVALID_PARAMS,
                exchange,
                expected=f"error {INVALID_PARAMS}",
                observed=exchange,
            )
