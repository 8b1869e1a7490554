"""The answer to `initialize` says which version, which capabilities and which server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

FIELDS = {"protocolVersion": str, "capabilities": dict, "serverInfo": dict}
IDENTITY = ("name", "version")


@check("initialize is answered with version, capabilities and identity", rows=("LIFE-03",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("initialize"):
        if exchange.result is not None:
            wrong = list(_wrong(exchange.result))
            yield observe(
                "LIFE-03",
                not wrong,
                exchange,
                expected="`protocolVersion`, `capabilities` and `serverInfo` with name and version",
                observed=f"missing or of the wrong type: {', '.join(wrong)}",
            )


def _wrong(result: dict[str, Any]) -> Iterator[str]:
    yield from (name for name, kind in FIELDS.items() if not isinstance(result.get(name), kind))
    server = result.get("serverInfo")
    if isinstance(server, dict):
        yield from (f"serverInfo.{name}" for name in IDENTITY if not isinstance(server.get(name), str))
