"""Whether the messages of a trace fit the official types of its revision."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.verdict import Observation, observe
from assay.revisions.revision import Revision

from .message import Shape
from .shape import is_server_message, result_problem, server_message_problem
from .trace import Exchange, Trace


def observed_shapes(row: str, trace: Trace) -> Iterator[Observation]:
    """One observation for each message of the subject whose type is known."""
    for exchange in trace.exchanges():
        if exchange.result is not None:
            problem = _problem(exchange, trace.revision)
            expected = f"a result of {exchange.method} that fits its schema"
            yield observe(row, problem is None, exchange, expected=expected, observed=problem)
    for message in trace.received:
        if message.shape in (Shape.REQUEST, Shape.NOTIFICATION) and is_server_message(
            message, trace.revision
        ):
            problem = server_message_problem(message, trace.revision)
            expected = f"a {message.shape.value} {message.method} that fits its schema"
            yield observe(row, problem is None, message, expected=expected, observed=problem)


def _problem(exchange: Exchange, revision: Revision) -> str | None:
    result = exchange.answer.fields.get("result") if exchange.answer is not None else None
    if not isinstance(result, dict):
        return f"{result!r}, which is not an object"
    return result_problem(exchange.method, result, revision)
