"""What a client asks has an id: a text or an integer, never null."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.message import Message, Shape
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.registry import REVISIONS

ASKING = frozenset[str]().union(*(revision.requests for revision in REVISIONS))
"""Methods of requests: without an id they are still meant as such."""


@check("Requests have ids that are texts or integers", rows=("BASE-02", "BASE-03"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if not _is_request(message):
            continue
        null = "id" in message.fields and message.id is None
        yield observe("BASE-03", not null, message, expected="an id that is not null", observed="null")
        if not null:
            yield observe(
                "BASE-02",
                type(message.id) in (int, str),
                message,
                expected="an id that is a string or an integer",
                observed=f"id {message.id!r}" if "id" in message.fields else "no id",
            )


def _is_request(message: Message) -> bool:
    asks = message.shape is Shape.REQUEST and not message.method.startswith("notifications/")
    return asks or (message.shape is Shape.NOTIFICATION and message.method in ASKING)
