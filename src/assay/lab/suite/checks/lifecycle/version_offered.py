"""A version that no server has is answered with one that the server has, not with an error."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.registry import BY_DATE


@check("An unknown version is answered with another one", rows=("LIFE-10",))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("initialize"):
        asked = exchange.params.get("protocolVersion")
        if isinstance(asked, str) and asked not in BY_DATE and exchange.answer is not None:
            offered = (exchange.result or {}).get("protocolVersion")
            yield observe(
                "LIFE-10",
                offered in BY_DATE,
                exchange,
                expected="a result with a version that exists",
                observed=offered or exchange,
            )
