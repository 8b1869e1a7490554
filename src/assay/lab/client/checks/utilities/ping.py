"""Whoever is pinged answers."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "PNG-01"


@check("A ping is answered with an empty result", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("ping"):
        answer = exchange.answer
        holds = answer is not None and answer.shape is Shape.RESULT and not answer.result.keys() - {"_meta"}
        yield observe(ROW, holds, exchange, expected="an empty result", observed=exchange)
