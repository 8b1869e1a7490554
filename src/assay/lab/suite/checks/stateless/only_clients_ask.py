"""A server answers and notifies; it sends no requests."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.question import ASKING
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.retrying import wants_input


@check("The server sends no requests", rows=("BASE-32", "MR-01"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    # On a connection with a handshake the rules of its revision hold, and there servers may ask.
    greeted = {one.request.frame.connection for one in trace.exchanges("initialize")}
    for message in trace.received:
        if message.frame.connection in greeted:
            continue
        asks = message.shape is Shape.REQUEST
        yield observe("BASE-32", not asks, message, expected="no request", observed=message)
        if asks and message.method in ASKING:
            expected = "the question in an `input_required` result"
            yield observe("MR-01", False, message, expected=expected, observed=message)
    for exchange in filter(wants_input, trace.exchanges()):
        yield observe("MR-01", True, exchange, expected="questions in a result", observed=exchange)
