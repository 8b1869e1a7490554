"""What a server asks its client: in requests of its own, or inside a result that wants input first.

Where it is asked differs by revision; what may be asked does not. So checks read questions from here, and
saboteurs spoil them here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import Exchange, Trace

from .message_meta import CAPABILITIES_KEY

ELICIT: Final = "elicitation/create"
SAMPLE: Final = "sampling/createMessage"
ROOTS: Final = "roots/list"
ASKING: Final = frozenset({ELICIT, SAMPLE, ROOTS})
ASKED_DURING: Final = ("tools/call", "prompts/get", "resources/read")
"""Requests of a client that may lead to questions."""
URL_REQUIRED: Final = -32042
"""The error of a request that waits until its user has opened a page."""


class Question(Struct, frozen=True):
    method: str
    params: dict[str, Any]
    capabilities: dict[str, Any]
    """What the driver had declared when it was asked."""
    message: Message
    key: str | None = None
    """Its name, where the answer comes with a retry."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.message.frames

    @property
    def mode(self) -> Any:
        """Of an elicitation: form unless it says otherwise."""
        return self.params.get("mode", "form")

    def declared(self, capability: str) -> dict[str, Any] | None:
        """What the driver declared under that name; none where it did not."""
        found = self.capabilities.get(capability)
        return found if isinstance(found, dict) else None


class Round(Struct, frozen=True):
    """A question with the driver's answer, and how the request ended that it was asked during."""

    question: Question
    answer: dict[str, Any]
    outcome: Exchange

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (*self.question.frames, *self.outcome.frames)


def questions_in(message: dict[str, Any]) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """The questions in a message as it is on the wire, each `{"method": …, "params": …}` with its name."""
    method = message.get("method")
    if "id" in message and isinstance(method, str) and method in ASKING:
        yield None, message
    for key, asked in _object(_object(message.get("result")).get("inputRequests")).items():
        if isinstance(asked, dict):
            yield key, asked
    error = _object(message.get("error"))
    if error.get("code") == URL_REQUIRED:
        listed = _object(error.get("data")).get("elicitations")
        for params in listed if isinstance(listed, list) else []:
            yield None, {"method": ELICIT, "params": params}


def asked_in(message: dict[str, Any], method: str) -> Iterator[dict[str, Any]]:
    """The parameters of the questions of one method in a message, to be changed in place."""
    for _, asked in questions_in(message):
        if asked.get("method") == method and isinstance(asked.get("params"), dict):
            yield asked["params"]


def answers_in(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A client's answers in a message of its own: a result, or the responses that come with a retry."""
    if "method" not in message and isinstance(message.get("result"), dict):
        yield message["result"]
    for answer in _object(_object(message.get("params")).get("inputResponses")).values():
        if isinstance(answer, dict):
            yield answer


def declare_for(message: dict[str, Any], capabilities: dict[str, Any]) -> None:
    """Let a message of a client declare these capabilities too, wherever it declares its own."""
    params = _object(message.get("params"))
    meta = _object(params.get("_meta"))
    for place, key in ((params, "capabilities"), (meta, CAPABILITIES_KEY)):
        if isinstance(place.get(key), dict):
            place[key] |= capabilities


def questions(trace: Trace, *methods: str) -> Iterator[Question]:
    """Every question of the subject, or those of these methods, in order."""
    declared = _Declared(trace)
    for message in trace.received:
        for key, asked in questions_in(message.fields):
            method = asked.get("method")
            if isinstance(method, str) and (not methods or method in methods):
                yield Question(method, _object(asked.get("params")), declared.at(message), message, key)


def rounds_of(trace: Trace, *methods: str) -> Iterator[Round]:
    """The questions that the driver answered, as far as the frames show what came of it."""
    exchanges = [one for one in trace.exchanges(*ASKED_DURING) if one.answer is not None]
    for question in questions(trace, *methods):
        find = _answered_at_once if question.key is None else _answered_by_retry
        answered = find(question, exchanges, trace)
        if answered is not None:
            yield answered


def _answered_at_once(question: Question, exchanges: list[Exchange], trace: Trace) -> Round | None:
    asked = question.message
    reply = next((one for one in trace.messages if _is_reply(one, asked)), None)
    during = [one for one in exchanges if _spans(one, asked.frame)]
    # With two requests open at once nothing says which of them the question belongs to.
    if reply is None or asked.shape is not Shape.REQUEST or len(during) != 1:
        return None
    return Round(question, reply.result, during[0])


def _is_reply(message: Message, asked: Message) -> bool:
    here = message.frame.connection == asked.frame.connection and message.frame.n > asked.frame.n
    return here and not message.by_subject and message.is_response and same_id(message.id, asked.id)


def _spans(exchange: Exchange, frame: Frame) -> bool:
    answer = exchange.answer
    here = exchange.request.frame.connection == frame.connection
    return here and answer is not None and exchange.request.frame.n < frame.n < answer.frame.n


def _answered_by_retry(question: Question, exchanges: list[Exchange], trace: Trace) -> Round | None:
    for exchange in exchanges:
        given = _object(exchange.params.get("inputResponses"))
        sent = exchange.request.frame
        later = sent.n > question.message.frame.n and sent.connection == question.message.frame.connection
        if later and question.key in given:
            return Round(question, _object(given[question.key]), exchange)
    return None


class _Declared:
    """What the driver declared: in the handshake of a connection, or in the request that is answered."""

    def __init__(self, trace: Trace) -> None:
        self._asked = {id(answer): one for one in trace.exchanges() for answer in one.answers}
        self._greetings = [
            (one.request.frame, _object(one.params.get("capabilities")))
            for one in trace.exchanges("initialize")
        ]

    def at(self, message: Message) -> dict[str, Any]:
        exchange = self._asked.get(id(message))
        meta = _object(exchange.params.get("_meta")) if exchange is not None else {}
        if CAPABILITIES_KEY in meta:
            return _object(meta[CAPABILITIES_KEY])
        said = [
            capabilities
            for frame, capabilities in self._greetings
            if frame.connection == message.frame.connection and frame.n < message.frame.n
        ]
        return said[-1] if said else {}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
