"""Every response names a request that was sent and not answered yet."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.trace.unexplained_error import names_nothing, unexplained_errors
from assay.lab.harness.verdict import Observation, observe


@check("Every response has the id of its request", rows=("BASE-06",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        # A stream that is resumed may repeat what was sent on another.
        firsthand = [one for one in exchange.answers if not one.frame.is_on_get]
        if exchange.answers and not names_nothing(exchange.request):
            yield observe(
                "BASE-06",
                len(firsthand) <= 1,
                exchange,
                expected=f"one response with id {exchange.request.id!r}",
                observed=f"{len(firsthand)} of them",
            )
    for stray in _strays(trace):
        yield observe(
            "BASE-06",
            False,
            stray,
            *_asked_there(trace, stray),
            expected="the id of a request that was sent here",
            observed=f"id {stray.id!r}",
        )


def _asked_there(trace: Trace, stray: Message) -> list[Message]:
    """On HTTP, what the response should have answered."""
    if stray.frame.stream != "post":
        return []
    return [one for one in trace.messages if one.frame.channel == stray.frame.channel]


def _strays(trace: Trace) -> Iterator[Message]:
    yield from (one for one in trace.strays if one.shape is not Shape.ERROR)
    # One without an id is judged as such: see `jsonrpc.named-errors`.
    yield from (one for one in unexplained_errors(trace) if not names_nothing(one))
