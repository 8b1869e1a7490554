"""Between its answer to `initialize` and `notifications/initialized` a server asks nothing but pings."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("No requests before the client is ready", rows=("LIFE-06",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for connection, ready in _ready(trace).items():
        asked = [
            one
            for one in trace.received
            if one.frame.connection == connection
            and one.frame.n < ready.frame.n
            and one.shape is Shape.REQUEST
            and one.method != "ping"
        ]
        yield observe(
            "LIFE-06",
            not asked,
            *asked,
            ready,
            expected="no request but `ping` before `notifications/initialized`",
            observed=", ".join(map(str, asked)),
        )


def _ready(trace: Trace) -> dict[str, Message]:
    """By connection: the first notification with which the driver said that it is ready."""
    said: dict[str, Message] = {}
    for message in trace.messages:
        if not message.by_subject and message.method == "notifications/initialized":
            said.setdefault(message.frame.connection, message)
    return said
