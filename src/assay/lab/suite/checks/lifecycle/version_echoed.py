"""A version that the server speaks is agreed on when a client asks for it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("A version that the server supports is echoed", rows=("LIFE-09",))
def judge(trace: Trace) -> Iterator[Observation]:
    """The trace's own revision is one that the server has agreed on before."""
    for exchange in trace.exchanges("initialize"):
        if exchange.params.get("protocolVersion") == trace.revision.date and exchange.answer is not None:
            answered = (exchange.result or {}).get("protocolVersion")
            yield observe(
                "LIFE-09",
                answered == trace.revision.date,
                exchange,
                expected=f"protocolVersion {trace.revision}",
                observed=answered or exchange,
            )
