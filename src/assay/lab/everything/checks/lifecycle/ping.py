"""`ping` is answered with an empty object."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@official_check("ping", "A ping is answered with an empty result", rows=("ping",))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("ping"):
        if exchange.answer is not None:
            holds = exchange.result == {}
            yield observe("ping", holds, exchange, expected="the result {}", observed=exchange)
