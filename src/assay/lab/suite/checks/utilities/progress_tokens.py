"""Progress is told under the token of a request that still runs; tokens are text or whole numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.order import is_later
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

PROGRESS = "notifications/progress"


@check("Progress names a running request", rows=("PRG-01", "PRG-02", "PRG-04", "PRG-05"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.method == PROGRESS and "progressToken" in message.params:
            token = message.params["progressToken"]
            yield _well_typed(token, message)
            yield from _in_use(token, message, trace)
        elif message.shape is Shape.REQUEST and (token := _token(message)) is not None:
            yield _well_typed(token, message)
            yield _unique(token, message, trace)


def _well_typed(token: Any, message: Message) -> Observation:
    return observe(
        "PRG-01", type(token) in (str, int), message, expected="a string or an integer", observed=repr(token)
    )


def _in_use(token: Any, message: Message, trace: Trace) -> Iterator[Observation]:
    """Given by a request of the driver, whose answer was not sent yet."""
    given = [
        one
        for one in trace.exchanges()
        if one.request.frame.connection == message.frame.connection
        and one.request.frame.n < message.frame.n
        and same_id(_token(one.request), token)
    ]
    yield observe(
        "PRG-04", bool(given), message, expected="the token of a request", observed=f"token {token!r}"
    )
    if given:
        answer = given[-1].answer
        over = answer is not None and is_later(message, answer, trace)
        expected = "no progress after the answer"
        yield observe("PRG-05", not over, message, given[-1], expected=expected, observed="progress after it")


def _unique(token: Any, message: Message, trace: Trace) -> Observation:
    """Among the subject's own requests that the driver has not answered yet."""
    before = [
        one
        for one in trace.messages
        if one.frame.connection == message.frame.connection and one.frame.n < message.frame.n
    ]
    answered = [one.id for one in before if not one.by_subject and one.is_response]
    rivals = [
        one
        for one in before
        if one.by_subject
        and one.shape is Shape.REQUEST
        and same_id(_token(one), token)
        and not any(same_id(one.id, other) for other in answered)
    ]
    return observe(
        "PRG-02", not rivals, *rivals, message, expected="a token of its own", observed=f"token {token!r}"
    )


def _token(message: Message) -> Any:
    meta = message.params.get("_meta")
    return meta.get("progressToken") if isinstance(meta, dict) else None
