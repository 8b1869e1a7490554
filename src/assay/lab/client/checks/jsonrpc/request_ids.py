"""What a client asks has an id: a text or an integer, never null."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.envelope import has_proper_id
from assay.revisions.registry import REVISIONS

ASKING = frozenset[str]().union(*(revision.requests for revision in REVISIONS))
"""Methods of requests: without an id they are still meant as such."""


@check("Requests have ids that are texts or integers", rows=("BASE-02", "BASE-03"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if _is_request(message):
            yield from has_proper_id(message)


def _is_request(message: Message) -> bool:
    asks = message.shape is Shape.REQUEST and not message.method.startswith("notifications/")
    return asks or (message.shape is Shape.NOTIFICATION and message.method in ASKING)
