"""A request's stream tells of that request; the stream of no request tells of none."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.streamed import PROGRESS, requests, tokens
from assay.revisions.revision import Opening, Revision

LISTEN = "subscriptions/listen"


@check(
    "Messages come on the stream that they belong to",
    rows=("HTTP-15", "HTTP-29"),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    announced = tokens(trace.calls)
    for call in trace.calls:
        for message in call.messages:
            if not call.is_stream or message.shape not in (Shape.NOTIFICATION, Shape.REQUEST):
                continue
            token = message.params.get("progressToken") if message.method == PROGRESS else None
            of = None if token is None else announced.get(repr(token))
            if requests(call):
                yield observe(
                    "HTTP-15",
                    not _is_foreign(message, call, of, trace.revision),
                    call,
                    expected=f"messages about {', '.join(one.method for one in requests(call))}",
                    observed=message,
                )
            elif call.sent.method == "GET" and call.resumes is None:
                expected = "messages that belong to no request"
                yield observe("HTTP-29", of is None, call, expected=expected, observed=message)


def _is_foreign(message: Message, call: Call, of: str | None, revision: Revision) -> bool:
    if message.method == PROGRESS:
        return of != call.channel
    # Where changes are listened for, they have a stream of their own.
    listening = any(one.method == LISTEN for one in call.asked)
    tells_changes = message.method.endswith(("/list_changed", "/updated"))
    return revision.opening is Opening.PER_REQUEST and tells_changes and not listening
