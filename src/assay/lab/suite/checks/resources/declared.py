"""A server that has resources says so, and one that says so lists them."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.declaration import declaration
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("Resources are declared, and listed when they are", rows=("RS-01", "RS-05"))
def judge(trace: Trace) -> Iterator[Observation]:
    declared = declaration(trace)
    if declared is None:
        return
    has = "resources" in declared.capabilities
    for exchange in trace.exchanges("resources/list"):
        if exchange.answer is None or "cursor" in exchange.params:
            continue
        listed = exchange.objects("resources")
        yield observe(
            "RS-01",
            has or not listed,
            declared,
            exchange,
            expected="the capability `resources`, since there are resources",
            observed=f"{len(listed)} resources, and {', '.join(declared.capabilities) or 'nothing'} declared",
        )
        if has:
            is_list = isinstance((exchange.result or {}).get("resources"), list)
            yield observe("RS-05", is_list, exchange, expected="a list of resources", observed=exchange)
