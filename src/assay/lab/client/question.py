"""Requests of a server to its client and their answers, in either form that revisions have for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import Trace
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Exchange
from assay.revisions.revision import Asking

from .evidence import INITIALIZE

Json = dict[str, Any]
FORM, MODEL, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
CAPABILITIES: Final = {FORM: "elicitation", MODEL: "sampling", ROOTS: "roots"}
RETRY_FIELDS: Final = ("inputResponses", "requestState")
"""The parameters that a retry adds to those of its request."""


class Question(Struct, frozen=True):
    """A request of the server, sent as one or embedded in a result, and the client's answer."""

    method: str
    params: Json
    declared: Json
    """The capabilities that the client declared before."""
    request: Message
    answer: Message | None = None
    result: Json | None = None
    code: Any = None
    """The error's code."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.request.frames + (() if self.answer is None else self.answer.frames)

    @property
    def capability(self) -> Any:
        """The client's declaration for this method, if any."""
        return self.declared.get(CAPABILITIES[self.method])

    @property
    def content(self) -> list[Json]:
        """The content blocks of a model's answer, which may be one block or a list."""
        content = (self.result or {}).get("content")
        blocks = content if isinstance(content, list) else [content]
        return [block for block in blocks if isinstance(block, dict)]

    @property
    def tool_uses(self) -> list[Json]:
        return [block for block in self.content if block.get("type") == "tool_use"]


class Round(Struct, frozen=True):
    """A result that asks for input, and the retry with the answers, if it was sent."""

    first: Exchange
    retry: Exchange | None

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.first.frames + (() if self.retry is None else self.retry.request.frames)

    @property
    def questions(self) -> Json:
        return _object((self.first.result or {}).get("inputRequests"))

    @property
    def answers(self) -> Json:
        return _object(self.retry.params.get("inputResponses")) if self.retry else {}


def questions(trace: Trace, *methods: str) -> Iterator[Question]:
    """The questions with these methods; by default, all."""
    by_request = trace.revision.asking is Asking.BY_REQUEST
    every = _requested(trace) if by_request else _embedded(trace)
    return (question for question in every if question.method in (methods or CAPABILITIES))


def _requested(trace: Trace) -> Iterator[Question]:
    for exchange in trace.exchanges(*CAPABILITIES):
        yield Question(
            exchange.method,
            exchange.params,
            _declared_before(trace, exchange.request),
            exchange.request,
            exchange.answer,
            exchange.result,
            exchange.code,
        )


def _declared_before(trace: Trace, message: Message) -> Json:
    capabilities: Json = {}
    for opening in trace.subject_exchanges(INITIALIZE):
        if opening.request.frame.n < message.frame.n:
            capabilities = _object(opening.params.get("capabilities"))
    return capabilities


def _embedded(trace: Trace) -> Iterator[Question]:
    for round_ in rounds(trace):
        answer = round_.first.answer
        assert answer is not None
        declared = _object(_object(round_.first.params.get("_meta")).get(CAPABILITIES_KEY))
        for key, request in round_.questions.items():
            fields = _object(request)
            result = round_.answers.get(key)
            yield Question(
                str(fields.get("method")),
                _object(fields.get("params")),
                declared,
                answer,
                round_.retry.request if round_.retry else None,
                result if isinstance(result, dict) else None,
            )


def rounds(trace: Trace) -> Iterator[Round]:
    """Every result that asks for input."""
    every = list(trace.subject_exchanges())
    for first in every:
        if (first.result or {}).get("resultType") == "input_required":
            yield Round(first, next((later for later in every if _is_retry(later, first)), None))


def _is_retry(later: Exchange, first: Exchange) -> bool:
    """Whether this is the same request again, sent after the questions, with answers or the state."""
    result = first.answer
    after = result is not None and later.request.frame.n > result.frame.n
    same = later.method == first.method and _plain(later) == _plain(first)
    return after and same and any(key in later.params for key in RETRY_FIELDS)


def _plain(exchange: Exchange) -> Json:
    return {key: value for key, value in exchange.params.items() if key not in (*RETRY_FIELDS, "_meta")}


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
