"""A response without an id answers neither a request that could be read, nor a notification."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.trace.unexplained_error import is_sound
from assay.lab.harness.verdict import Observation, observe


@check("Errors name their request, and notifications get none", rows=("BASE-09", "BASE-10"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    nameless = [
        one for one in trace.received if one.is_response and one.id is None and not _explained(trace, one)
    ]
    for exchange in trace.exchanges():
        if exchange.answer is not None and exchange.answer.shape is Shape.ERROR:
            yield observe("BASE-09", True, exchange, expected="", observed="")
    for message in trace.messages:
        if not message.by_subject and message.shape is Shape.NOTIFICATION:
            yield observe("BASE-10", True, message, expected="", observed="")
    for one in nameless:
        owed = [
            request for request in trace.exchanges() if not request.answers and _before(request.request, one)
        ]
        if owed and one.shape is Shape.ERROR:
            expected = "the id of the request, which was readable"
            yield observe("BASE-09", False, one, *owed[-1:], expected=expected, observed=f"no id; {one}")
        elif any(
            not told.by_subject and told.shape is Shape.NOTIFICATION and _before(told, one)
            for told in trace.messages
        ):
            expected = "no response to a notification"
            yield observe("BASE-10", False, one, expected=expected, observed=one)


def _before(sent: Message, answer: Message) -> bool:
    return sent.frame.n < answer.frame.n and sent.frame.connection == answer.frame.connection


def _explained(trace: Trace, answer: Message) -> bool:
    """Whether the host had sent something whose id, if it has one, cannot be read."""
    sent = (one for one in trace.messages if not one.by_subject and _before(one, answer))
    return any(
        one.shape is Shape.UNKNOWN or (one.shape is Shape.REQUEST and not is_sound(one)) for one in sent
    )
