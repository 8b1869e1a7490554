"""What holds for the envelope of every message, whoever sends it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.lab.harness import Observation, observe
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.message import Message
from assay.revisions.revision import Batching, Revision


def are_objects(messages: Iterable[Message], revision: Revision) -> Iterator[Observation]:
    batches = revision.batching is Batching.ACCEPTED
    for message in messages:
        # A line that is no JSON is no message at all: see `framing.pure-stdout` and `framing.pure-input`.
        if message.value is not None or message.frame.kind is not Kind.LINE:
            problem = _problem(message, batches)
            expected = 'an object with `jsonrpc: "2.0"`'
            yield observe("BASE-01", problem is None, message, expected=expected, observed=problem)


def _problem(message: Message, batches: bool) -> str | None:
    if message.problem is not None:
        return message.problem
    if message.place is not None and not batches:
        return "an array, in a revision without batches"
    said = message.fields.get("jsonrpc")
    return None if said == "2.0" else f"jsonrpc is {said!r}"


def has_proper_id(request: Message) -> Iterator[Observation]:
    null = "id" in request.fields and request.id is None
    yield observe("BASE-03", not null, request, expected="an id that is not null", observed="null")
    if not null:
        yield observe(
            "BASE-02",
            type(request.id) in (int, str),
            request,
            expected="an id that is a string or an integer",
            observed=f"id {request.id!r}" if "id" in request.fields else "no id",
        )


def notifications_have_no_id(messages: Iterable[Message]) -> Iterator[Observation]:
    for message in messages:
        if message.method.startswith("notifications/"):
            yield observe(
                "BASE-11",
                "id" not in message.fields,
                message,
                expected="a notification without `id`",
                observed=f"{message.method} with id {message.id!r}",
            )


def is_utf8(message: Message) -> Observation:
    problem = _not_utf8(message.body)
    return observe("BASE-12", problem is None, message, expected="bytes in UTF-8", observed=problem)


def _not_utf8(body: bytes) -> str | None:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"{body[max(error.start - 10, 0) : error.end + 10]!r} at byte {error.start}"
    return None
