"""Every message of the subject fits the official types of the revision."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.message import Shape
from assay.lab.harness.shape import knows, result_problem, sent_problem
from assay.lab.harness.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.revision import Revision


@check("Messages fit the schema of the revision", rows=("SHAPE-01",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.result is not None:
            problem = _problem(exchange, trace.revision)
            expected = f"a result of {exchange.method} that fits its schema"
            yield observe("SHAPE-01", problem is None, exchange, expected=expected, observed=problem)
    for message in trace.received:
        if message.shape in (Shape.REQUEST, Shape.NOTIFICATION) and knows(message, trace.revision):
            problem = sent_problem(message, trace.revision)
            expected = f"a {message.shape.value} {message.method} that fits its schema"
            yield observe("SHAPE-01", problem is None, message, expected=expected, observed=problem)


def _problem(exchange: Exchange, revision: Revision) -> str | None:
    given = exchange.answer.fields.get("result") if exchange.answer is not None else None
    if not isinstance(given, dict):
        return f"{given!r}, which is no object"
    return result_problem(exchange.method, given, revision)
