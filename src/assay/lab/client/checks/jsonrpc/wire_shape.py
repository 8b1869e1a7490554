"""Every message of the client fits the official types of the revision."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.shape import answer_problem, client_problem, known_of_clients
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "SHAPE-01"


@check("Messages fit the schema of the revision", rows=(ROW,), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if _has_form(message) and known_of_clients(message, trace.revision):
            problem = client_problem(message, trace.revision)
            expected = f"a {message.shape.value} {message.method} that fits its schema"
            yield observe(ROW, problem is None, message, expected=expected, observed=problem)
    for exchange in trace.exchanges():
        if exchange.answer is not None and exchange.answer.shape is Shape.RESULT:
            problem = answer_problem(exchange.method, exchange.answer.fields["result"], trace.revision)
            expected = f"a result of {exchange.method} that fits its schema"
            yield observe(ROW, problem is None, exchange, expected=expected, observed=problem)


def _has_form(message: Message) -> bool:
    return message.shape in (Shape.REQUEST, Shape.NOTIFICATION)
