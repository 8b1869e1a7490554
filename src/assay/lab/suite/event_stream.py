"""Event streams: which message came on which stream, progress tokens of requests, and streams of faults."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assay.lab.harness import Json, Response, Trace
from assay.lab.harness.links.http_text import EVENT_STREAM, JSON
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Call

STREAM_FIRST: Final = {"Accept": f"{EVENT_STREAM}, {JSON}"}
"""Both types, as the specification requires, with event streams preferred."""
PROGRESS: Final = "notifications/progress"
Fingerprint = tuple[str, str, str]


def token_of(message: Message) -> Any:
    """The progress token of a request."""
    return message.meta.get("progressToken")


def tokens(calls: tuple[Call, ...]) -> dict[str, str]:
    """The progress tokens of requests, each with the channel of its request."""
    tokens = ((token_of(message), call) for call in calls for message in call.request_messages)
    return {repr(token): call.channel for token, call in tokens if token is not None}


def fingerprint(message: Message) -> Fingerprint | None:
    """The identity of a message of the subject, or None if it has none."""
    connection = message.frame.connection
    if message.is_response or message.shape is Shape.REQUEST:
        kind = "response" if message.is_response else "request"
        return None if message.id is None else (connection, kind, repr(message.id))
    if message.method == PROGRESS:
        step = (message.params.get("progressToken"), message.params.get("progress"))
        return (connection, PROGRESS, repr(step))
    return None


def streams_by_message(trace: Trace) -> dict[Fingerprint, list[Call]]:
    """The responses on which each message came, without resumed streams, which may repeat messages."""
    streams: dict[Fingerprint, list[Call]] = {}
    # An id that the driver did not use may be the same in many responses.
    strays = {id(message) for message in trace.strays}
    for call in (call for call in trace.calls if call.resumes is None):
        for mark in {fingerprint(message) for message in call.messages if id(message) not in strays}:
            if mark is not None:
                streams.setdefault(mark, []).append(call)
    return streams


def requests(call: Call) -> list[Message]:
    """The JSON-RPC requests in an HTTP request: messages with a method and a string or number as id."""
    messages = (message for message in call.request_messages if message.shape is Shape.REQUEST)
    return [message for message in messages if type(message.id) in (int, float, str)]


def event(message: Json) -> bytes:
    return b"data: %b\n\n" % msgspec.json.encode(message)


def stream(*messages: Json) -> Response:
    """A whole response with these messages as events."""
    return Response([("Content-Type", EVENT_STREAM)], 200, b"".join(map(event, messages)))
