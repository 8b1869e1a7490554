"""Questions of a server to its client: in requests, or inside an `input_required` result.

The place differs by revision, the questions do not. Checks read questions, and saboteurs alter them, through
this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import Exchange, Trace

from .message_meta import CAPABILITIES_KEY, param_headers
from .peer import Peer, Reply

ELICIT: Final = "elicitation/create"
SAMPLE: Final = "sampling/createMessage"
ROOTS: Final = "roots/list"
ASKING: Final = frozenset({ELICIT, SAMPLE, ROOTS})
MAY_ASK_DURING: Final = ("tools/call", "prompts/get", "resources/read")
"""Client requests during which a server may ask questions."""
URL_REQUIRED: Final = -32042
"""Error code of a request that requires the user to open a URL first."""
ROUNDS: Final = 8
"""Retries of one request; a check reports a subject that never stops asking."""


class Question(Struct, frozen=True):
    method: str
    params: dict[str, Any]
    capabilities: dict[str, Any]
    """Capabilities that the driver had declared at that point."""
    message: Message
    key: str | None = None
    """Key in `inputRequests`, if the answer comes with a retry."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.message.frames

    @property
    def mode(self) -> Any:
        """Mode of an elicitation; the default is form."""
        return self.params.get("mode", "form")

    def declared(self, capability: str) -> dict[str, Any] | None:
        """The capability as the driver declared it, or None."""
        value = self.capabilities.get(capability)
        return value if isinstance(value, dict) else None


class Round(Struct, frozen=True):
    """A question with the driver's answer, and the outcome of the request that caused it."""

    question: Question
    answer: dict[str, Any]
    outcome: Exchange

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (*self.question.frames, *self.outcome.frames)


def questions_in(message: dict[str, Any]) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """The questions in a decoded message, each `{"method": …, "params": …}` with its key."""
    method = message.get("method")
    if "id" in message and isinstance(method, str) and method in ASKING:
        yield None, message
    for key, question in _object(_object(message.get("result")).get("inputRequests")).items():
        if isinstance(question, dict):
            yield key, question
    error = _object(message.get("error"))
    if error.get("code") == URL_REQUIRED:
        elicitations = _object(error.get("data")).get("elicitations")
        for params in elicitations if isinstance(elicitations, list) else []:
            yield None, {"method": ELICIT, "params": params}


def question_params(message: dict[str, Any], method: str) -> Iterator[dict[str, Any]]:
    """The parameters of the questions of a method in a message, for changes in place."""
    for _, question in questions_in(message):
        if question.get("method") == method and isinstance(question.get("params"), dict):
            yield question["params"]


def answers_in(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The answers in a client's message: a result, or the responses in a retry."""
    if "method" not in message and isinstance(message.get("result"), dict):
        yield message["result"]
    for answer in _object(_object(message.get("params")).get("inputResponses")).values():
        if isinstance(answer, dict):
            yield answer


def declare_for(message: dict[str, Any], capabilities: dict[str, Any]) -> None:
    """Add capabilities to a client's message, wherever it declares any."""
    params = _object(message.get("params"))
    meta = _object(params.get("_meta"))
    for place, key in ((params, "capabilities"), (meta, CAPABILITIES_KEY)):
        if isinstance(place.get(key), dict):
            place[key] |= capabilities


def questions(trace: Trace, *methods: str) -> Iterator[Question]:
    """The questions of the subject of these methods, or all, in order."""
    declarations = _Declarations(trace)
    for message in trace.received:
        for key, question in questions_in(message.fields):
            method = question.get("method")
            if isinstance(method, str) and (not methods or method in methods):
                capabilities = declarations.at(message)
                yield Question(method, _object(question.get("params")), capabilities, message, key)


def rounds_of(trace: Trace, *methods: str) -> Iterator[Round]:
    """The questions that the driver answered, if the frames show the outcome."""
    exchanges = [exchange for exchange in trace.exchanges(*MAY_ASK_DURING) if exchange.answer is not None]
    for question in questions(trace, *methods):
        find = _answered_at_once if question.key is None else _answered_by_retry
        input_round = find(question, exchanges, trace)
        if input_round is not None:
            yield input_round


def _answered_at_once(question: Question, exchanges: list[Exchange], trace: Trace) -> Round | None:
    request = question.message
    reply = next((message for message in trace.messages if _is_reply(message, request)), None)
    during = [exchange for exchange in exchanges if _spans(exchange, request.frame)]
    # With two requests open at once, it is unknown to which of them the question belongs.
    if reply is None or request.shape is not Shape.REQUEST or len(during) != 1:
        return None
    return Round(question, reply.result, during[0])


def _is_reply(message: Message, request: Message) -> bool:
    follows = message.frame.connection == request.frame.connection and message.frame.n > request.frame.n
    return follows and not message.by_subject and message.is_response and same_id(message.id, request.id)


def _spans(exchange: Exchange, frame: Frame) -> bool:
    answer, request = exchange.answer, exchange.request.frame
    return (
        request.connection == frame.connection and answer is not None and request.n < frame.n < answer.frame.n
    )


def _answered_by_retry(question: Question, exchanges: list[Exchange], trace: Trace) -> Round | None:
    for exchange in exchanges:
        responses = _object(exchange.params.get("inputResponses"))
        sent = exchange.request.frame
        later = sent.n > question.message.frame.n and sent.connection == question.message.frame.connection
        if later and question.key in responses:
            return Round(question, _object(responses[question.key]), exchange)
    return None


class _Declarations:
    """Capabilities that the driver declared: in the handshake of a connection, or in the answered request."""

    def __init__(self, trace: Trace) -> None:
        self._exchange_of = {
            id(answer): exchange for exchange in trace.exchanges() for answer in exchange.answers
        }
        self._handshakes = [
            (exchange.request.frame, _object(exchange.params.get("capabilities")))
            for exchange in trace.exchanges("initialize")
        ]

    def at(self, message: Message) -> dict[str, Any]:
        exchange = self._exchange_of.get(id(message))
        meta = _object(exchange.params.get("_meta")) if exchange is not None else {}
        if CAPABILITIES_KEY in meta:
            return _object(meta[CAPABILITIES_KEY])
        earlier = [
            capabilities
            for frame, capabilities in self._handshakes
            if frame.connection == message.frame.connection and frame.n < message.frame.n
        ]
        return earlier[-1] if earlier else {}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


async def converse(peer: Peer, method: str, params: dict[str, Any], **options: Any) -> Reply:
    """Send a request, and retry it with the driver's answers as long as the result is `input_required`.

    In revisions where the subject asks with requests, the peer answers those as they arrive.
    """
    reply = await peer.request(method, params, **options)
    for _ in range(ROUNDS):
        if reply.result.get("resultType") != "input_required":
            break
        reply = await peer.request(method, {**params, **retry(peer, reply.result)}, **options)
    return reply


async def converse_with(peer: Peer, tool: Mapping[str, Any], arguments: dict[str, Any]) -> Reply:
    """Call a tool by its definition, as `converse` does."""
    headers = param_headers(dict(tool), arguments) if peer.revision.http.mirrored else {}
    return await converse(peer, "tools/call", {"name": tool["name"], "arguments": arguments}, headers=headers)


def retry(peer: Peer, result: dict[str, Any]) -> dict[str, Any]:
    """The extra parameters of a retry: the driver's answers, and the request state of the result."""
    responses: dict[str, Any] = {}
    requests = result.get("inputRequests")
    for key, question in requests.items() if isinstance(requests, dict) else ():
        fields = question if isinstance(question, dict) else {}
        answer = peer.answer_to(str(fields.get("method")), fields.get("params"))
        # A client can only report a failure by omitting the answer.
        if answer is not None and "result" in answer:
            responses[key] = answer["result"]
    state = {"requestState": result["requestState"]} if "requestState" in result else {}
    return {"inputResponses": responses, **state}
