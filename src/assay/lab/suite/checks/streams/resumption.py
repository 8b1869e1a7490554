"""A stream that goes on holds what belongs to it, and nothing of another."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.streamed import Fingerprint, fingerprint, places, requests


@check("A resumed stream replays nothing of another", rows=("HTTP-35",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    home = {
        (call.request.connection, event.event_id): call
        for call in trace.calls
        for _, event in call.events
        if event.event_id and call.resumes is None
    }
    sent = places(trace)
    for call in trace.calls:
        origin = home.get((call.request.connection, call.resumes or ""))
        if origin is not None and call.is_stream:
            foreign = [one for one in call.messages if _is_foreign(one, origin, sent)]
            yield observe(
                "HTTP-35",
                not foreign,
                origin,
                call,
                expected=f"only messages of the stream that {call.resumes} belongs to",
                observed=foreign[0] if foreign else "none of another",
            )


def _is_foreign(message: Message, origin: Call, sent: dict[Fingerprint, list[Call]]) -> bool:
    mark = fingerprint(message)
    elsewhere = sent.get(mark, []) if mark is not None else []
    asked = [repr(one.id) for one in requests(origin)]
    misplaced = message.is_response and bool(asked) and repr(message.id) not in asked
    return misplaced or (bool(elsewhere) and origin not in elsewhere)
