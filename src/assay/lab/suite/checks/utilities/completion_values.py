"""An answer holds a hundred values at most."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

MOST = 100


@check("At most 100 values in a completion", rows=("CMP-02",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("completion/complete"):
        completion = (exchange.result or {}).get("completion")
        values = completion.get("values") if isinstance(completion, dict) else None
        if isinstance(values, list):
            yield observe(
                "CMP-02",
                len(values) <= MOST,
                exchange,
                expected=f"at most {MOST} values",
                observed=f"{len(values)} values",
            )
