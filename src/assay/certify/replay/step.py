"""The client's side of a recorded conversation, as steps that can be repeated in order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.golden.lane import is_answer, is_sentinel, messages_by_frame
from assay.lab.harness.links.http_text import parse_head
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import Trace

PARAM: Final = "mcp-param-"


class Action(Enum):
    REQUEST = "request"
    NOTIFY = "notify"
    BATCH = "batch"
    LISTEN = "listen"
    """Open a stream with GET."""
    RAW = "raw"
    """Bytes that are not a message."""


class Step(Struct, frozen=True):
    action: Action
    frame: Frame
    messages: tuple[Message, ...] = ()
    answer: Message | None = None
    """The recorded answer to a request."""
    headers: dict[str, str] = {}
    """Headers that mirror arguments."""
    after: str | None = None
    """The event after which a stream is resumed."""

    @property
    def connection(self) -> str:
        return self.frame.connection


class Answers(Struct, frozen=True):
    """What the client answered to the questions of one method, in order, on each connection."""

    by_question: dict[tuple[str, str], list[dict[str, Any]]]

    @classmethod
    def of(cls, trace: Trace) -> Answers:
        methods = {
            (message.frame.connection, repr(message.id)): message.method
            for message in trace.received
            if message.shape is Shape.REQUEST
        }
        by_question: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for message in trace.messages:
            method = methods.get((message.frame.connection, repr(message.id)))
            if not message.by_subject and message.is_response and method is not None:
                answer: dict[str, Any] = {
                    key: message.fields[key] for key in ("result", "error") if key in message.fields
                }
                by_question[message.frame.connection, method].append(answer)
        return cls(dict(by_question))


def steps_of(trace: Trace) -> list[Step]:
    """The steps of a recording. Sentinels, answers to questions and handshakes of a transport are left out:
    the replayer sends these where they are due."""
    messages = messages_by_frame(trace)
    answers = _answers(trace)
    sent = (frame for frame in trace.frames if frame.sender is Sender.DRIVER)
    return [step for frame in sent for step in _steps(frame, messages[frame.n], answers)]


def _answers(trace: Trace) -> dict[tuple[str, str], list[Message]]:
    answers: dict[tuple[str, str], list[Message]] = defaultdict(list)
    for message in trace.received:
        if message.is_response:
            answers[message.frame.connection, repr(message.id)].append(message)
    return answers


def _steps(
    frame: Frame, messages: Sequence[Message], answers: dict[tuple[str, str], list[Message]]
) -> Iterator[Step]:
    if frame.kind is Kind.REQUEST and frame.stream == "get":
        yield Step(Action.LISTEN, frame, after=parse_head(frame.raw).get("last-event-id"))
    if frame.kind not in (Kind.LINE, Kind.TEXT, Kind.REQUEST) or frame.stream == "get":
        return
    if frame.kind is Kind.REQUEST and frame.stream != "post":
        return
    if any(map(is_sentinel, messages)) or is_answer(frame, messages) or _only_answers(messages):
        return
    headers = _mirrored(frame)
    if len(messages) == 1 and messages[0].place is None and messages[0].shape is Shape.REQUEST:
        message = messages[0]
        replies = answers.get((frame.connection, repr(message.id)), [])
        reply = next((each for each in replies if same_id(each.id, message.id)), None)
        yield Step(Action.REQUEST, frame, (message,), reply, headers)
    elif len(messages) == 1 and messages[0].place is None and messages[0].shape is Shape.NOTIFICATION:
        yield Step(Action.NOTIFY, frame, tuple(messages), headers=headers)
    elif messages and all(message.method for message in messages):
        yield Step(Action.BATCH, frame, tuple(messages), headers=headers)
    elif messages:
        yield Step(Action.RAW, frame, tuple(messages), headers=headers)


def _only_answers(messages: Sequence[Message]) -> bool:
    return bool(messages) and all(message.is_response for message in messages)


def _mirrored(frame: Frame) -> dict[str, str]:
    if frame.kind is not Kind.REQUEST:
        return {}
    return {name: value for name, value in parse_head(frame.raw).headers if name.lower().startswith(PARAM)}
