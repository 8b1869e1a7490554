"""The answer to `initialize` says which version, which capabilities and which server."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe

FIELDS = {"protocolVersion": str, "capabilities": dict, "serverInfo": dict}


@check("initialize is answered with version, capabilities and identity", rows=("LIFE-03",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("initialize"):
        if exchange.result is not None:
            wrong = [name for name, kind in FIELDS.items() if not isinstance(exchange.result.get(name), kind)]
            yield observe(
                "LIFE-03",
                not wrong,
                exchange,
                expected="`protocolVersion`, `capabilities` and `serverInfo`",
                observed=f"missing or of the wrong type: {', '.join(wrong)}",
            )
