"""Every response names a request that was sent and not answered yet."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.message import Shape
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("Every response has the id of its request", rows=("BASE-06",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.answers:
            yield observe(
                "BASE-06",
                len(exchange.answers) == 1,
                exchange,
                expected=f"one response with id {exchange.request.id!r}",
                observed=f"{len(exchange.answers)} of them",
            )
    for stray in trace.strays:
        # An error may leave the id out when the request's could not be read.
        if stray.shape is not Shape.ERROR or "id" in stray.fields:
            yield observe(
                "BASE-06",
                False,
                stray,
                expected="the id of a request that was sent here",
                observed=f"id {stray.id!r}",
            )
