"""Rules for every message of servers and clients: envelope, encoding, lines, duplicate keys."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import Message
from assay.revisions.revision import Batching, Revision


def are_objects(messages: Iterable[Message], revision: Revision) -> Iterator[Observation]:
    batches = revision.batching is Batching.ACCEPTED
    for message in messages:
        # Lines that are not JSON are judged by `framing.pure-stdout` and `framing.pure-input`.
        if message.value is not None or message.frame.kind is not Kind.LINE:
            problem = _problem(message, batches)
            expected = 'an object with `jsonrpc: "2.0"`'
            yield observe("BASE-01", problem is None, message, expected=expected, observed=problem)


def _problem(message: Message, batches: bool) -> str | None:
    if message.problem is not None:
        return message.problem
    if message.place is not None and not batches:
        return "an array, in a revision without batches"
    version = message.fields.get("jsonrpc")
    return None if version == "2.0" else f"jsonrpc is {version!r}"


def has_proper_id(request: Message) -> Iterator[Observation]:
    null = "id" in request.fields and request.id is None
    yield observe("BASE-03", not null, request, expected="an id that is not null", observed="null")
    if not null:
        valid = type(request.id) in (int, str)
        observed = f"id {request.id!r}" if "id" in request.fields else "no id"
        expected = "an id that is a string or an integer"
        yield observe("BASE-02", valid, request, expected=expected, observed=observed)


def notifications_have_no_id(messages: Iterable[Message]) -> Iterator[Observation]:
    for message in messages:
        if message.method.startswith("notifications/"):
            observed = f"{message.method} with id {message.id!r}"
            valid = "id" not in message.fields
            yield observe(
                "BASE-11", valid, message, expected="a notification without `id`", observed=observed
            )


def is_utf8(message: Message) -> Observation:
    problem = _encoding_problem(message.body)
    return observe("BASE-12", problem is None, message, expected="bytes in UTF-8", observed=problem)


def _encoding_problem(body: bytes) -> str | None:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"{body[max(error.start - 10, 0) : error.end + 10]!r} at byte {error.start}"
    return None


A_MESSAGE_PER_LINE: Final = "one JSON-RPC message per line"


SHOWN: Final = 80


def shown_bytes(raw: bytes) -> str:
    """The first bytes, and how many there are if that is not all."""
    return repr(raw) if len(raw) <= SHOWN else f"{raw[:SHOWN]!r}… ({len(raw)} bytes)"


def unfinished_lines(trace: Trace, requirement: str) -> Iterator[Observation]:
    """Text at the end of the output that is neither a line nor the beginning of a message."""
    for frame in trace.frames:
        unfinished = frame.kind is Kind.LINE and frame.sender is Sender.SUBJECT and frame.raw[-1:] != b"\n"
        # A message at the end of the stream may lack its newline.
        if unfinished and not frame.raw.strip().startswith(b"{"):
            observed = f"{shown_bytes(frame.raw)} at the end"
            yield observe(requirement, False, frame, expected=A_MESSAGE_PER_LINE, observed=observed)


def duplicate_keys(body: bytes, name: str) -> list[str]:
    """The keys that occur twice in any object that is the member `name` of another."""
    duplicates: list[str] = []

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        for key, value in members:
            if key == name and isinstance(value, _Pairs):
                duplicates.extend(value.duplicates)
        return _Pairs(members)

    with contextlib.suppress(ValueError, RecursionError):  # other checks report invalid JSON
        json.loads(body, object_pairs_hook=pairs)
    return duplicates


class _Pairs(dict[str, Any]):
    def __init__(self, members: list[tuple[str, Any]]) -> None:
        super().__init__(members)
        names = [name for name, _ in members]
        self.duplicates = sorted({name for name in names if names.count(name) > 1})
