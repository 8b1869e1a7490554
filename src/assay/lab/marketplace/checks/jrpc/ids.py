"""Every response has the id of its request, and the type of it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.trace.unexplained_error import names_nothing, unexplained_errors
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

ECHO = "CONF-JRPC-02.id-echo"


@profile_check("Ids come back as they were sent", rows=(ECHO,))
def judge(trace: Trace) -> Iterator[Observation]:
    waiting = [one for one in trace.exchanges() if one.answer is None]
    for exchange in trace.exchanges():
        if exchange.answers and not names_nothing(exchange.request):
            # Two under one id, where another request got none: the second was meant for that one.
            count = len(exchange.answers)
            expected = f"one response with id {exchange.request.id!r}{_told(waiting)}"
            evidence = (exchange,) if count == 1 else (exchange, *waiting)
            yield observe(ECHO, count == 1, *evidence, expected=expected, observed=f"{count} responses")
    strays = [one for one in trace.strays if one.shape is not Shape.ERROR]
    for stray in (*strays, *unexplained_errors(trace)):
        expected = f"a response with the id of its request{_told(waiting)}"
        yield observe(ECHO, False, *waiting, stray, expected=expected, observed=f"id {stray.id!r}")


def _told(waiting: list[Exchange]) -> str:
    ids = ", ".join(repr(one.request.id) for one in waiting)
    return f"; without one: {ids}" if ids else ""
