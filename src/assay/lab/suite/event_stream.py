"""Event streams as evidence: which message came where, and what requests announce of themselves."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness import Trace
from assay.lab.harness.links.http_text import EVENT_STREAM, JSON
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Call

STREAM_FIRST: Final = {"Accept": f"{EVENT_STREAM}, {JSON}"}
"""Both are accepted, as they must be; a server that has a choice is told which is liked better."""
PROGRESS: Final = "notifications/progress"
Fingerprint = tuple[str, str, str]


def token_of(message: Message) -> Any:
    """The progress token that a request announces."""
    meta = message.params.get("_meta")
    return meta.get("progressToken") if isinstance(meta, dict) else None


def tokens(calls: tuple[Call, ...]) -> dict[str, str]:
    """Announced tokens, and the channels of their requests."""
    announced = ((token_of(message), call) for call in calls for message in call.asked)
    return {repr(token): call.channel for token, call in announced if token is not None}


def fingerprint(message: Message) -> Fingerprint | None:
    """What makes a message of the subject this one and no other; none where nothing does."""
    connection = message.frame.connection
    if message.is_response or message.shape is Shape.REQUEST:
        kind = "response" if message.is_response else "request"
        return None if message.id is None else (connection, kind, repr(message.id))
    if message.method == PROGRESS:
        step = (message.params.get("progressToken"), message.params.get("progress"))
        return (connection, PROGRESS, repr(step))
    return None


def places(trace: Trace) -> dict[Fingerprint, list[Call]]:
    """On which responses each message came. Streams that go on with an earlier one may repeat it."""
    found: dict[Fingerprint, list[Call]] = {}
    for call in trace.calls:
        for mark in {fingerprint(message) for message in call.messages if call.resumes is None}:
            if mark is not None:
                found.setdefault(mark, []).append(call)
    return found


def requests(call: Call) -> list[Message]:
    """Those of an HTTP request; what has an id that is neither text nor number is none, whatever its keys."""
    return [one for one in call.asked if one.shape is Shape.REQUEST and type(one.id) in (int, float, str)]
