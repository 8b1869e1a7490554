"""Tools that tell of their work while they are at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import NOT_HEARD, Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

from .answered import answered

ENOUGH: Final = 3
Belongs = Callable[[Message, Exchange], bool]


def tells_enough(
    trace: Trace, row: str, tool: str, method: str, belongs: Belongs, what: Callable[[Exchange], str]
) -> Iterator[Observation]:
    """Notifications of a call that belong to it: too few are held against it only if they were waited for."""
    waited = any(mark.info.get("method") == method for mark in trace.marks(NOT_HEARD))
    for exchange in answered(trace, "tools/call", name=tool):
        told = [one for one in trace.received if one.method == method and belongs(one, exchange)]
        if exchange.result is None:
            yield observe(row, False, exchange, expected="a result", observed=exchange)
        elif len(told) >= ENOUGH or waited:
            yield observe(
                row,
                len(told) >= ENOUGH,
                exchange,
                *told,
                expected=f"at least {ENOUGH} {what(exchange)}",
                observed=f"{len(told)} of them",
            )
