"""What a client was asked by a server, whichever way its revision has, and what it answered."""

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

from .evidence import FIRST

Json = dict[str, Any]
FORM, MODEL, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
GROUPS: Final = {FORM: "elicitation", MODEL: "sampling", ROOTS: "roots"}
CANARY: Final = "canary"
"""The address that is only there to see who comes."""
OWN: Final = ("inputResponses", "requestState", "_meta")
"""What a retry has besides the parameters of its request."""


class Question(Struct, frozen=True):
    method: str
    params: Json
    declared: Json
    """What the client had said that it can do."""
    asked: Message
    answered: Message | None = None
    result: Json | None = None
    """Of the answer; none where there is none, or an error."""
    code: Any = None
    """Of the error."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.asked.frames + (() if self.answered is None else self.answered.frames)

    @property
    def capability(self) -> Any:
        """What was declared about such questions; none where nothing was."""
        return self.declared.get(GROUPS[self.method])

    @property
    def content(self) -> list[Json]:
        """The blocks of a model's answer, whether it has one of them or a list."""
        found = (self.result or {}).get("content")
        return [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, dict)]

    @property
    def uses_of_tools(self) -> list[Json]:
        return [one for one in self.content if one.get("type") == "tool_use"]


class Round(Struct, frozen=True):
    """A result that asks, and the request that was sent with the answers; none where it never was."""

    first: Exchange
    retry: Exchange | None

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.first.frames + (() if self.retry is None else self.retry.request.frames)

    @property
    def questions(self) -> Json:
        asked = (self.first.result or {}).get("inputRequests")
        return asked if isinstance(asked, dict) else {}

    @property
    def answers(self) -> Json:
        given = self.retry.params.get("inputResponses") if self.retry else None
        return given if isinstance(given, dict) else {}


def questions(trace: Trace, *methods: str) -> Iterator[Question]:
    """Of these methods, or of all three."""
    by_request = trace.revision.asking is Asking.BY_REQUEST
    found = _requested(trace) if by_request else _retried(trace)
    return (one for one in found if one.method in (methods or GROUPS))


def _requested(trace: Trace) -> Iterator[Question]:
    for exchange in trace.exchanges(*GROUPS):
        answer = exchange.answer
        yield Question(
            exchange.method,
            exchange.params,
            _declared_before(trace, exchange.request),
            exchange.request,
            answer,
            exchange.result,
            exchange.code,
        )


def _declared_before(trace: Trace, message: Message) -> Json:
    said: Json = {}
    for opening in trace.inquiries(FIRST):
        if opening.request.frame.n < message.frame.n:
            said = _object(opening.params.get("capabilities"))
    return said


def _retried(trace: Trace) -> Iterator[Question]:
    for one in rounds(trace):
        answer = one.first.answer
        assert answer is not None
        declared = _object(_object(one.first.params.get("_meta")).get(CAPABILITIES_KEY))
        for key, question in one.questions.items():
            about = _object(question)
            result = one.answers.get(key)
            yield Question(
                str(about.get("method")),
                _object(about.get("params")),
                declared,
                answer,
                one.retry.request if one.retry else None,
                result if isinstance(result, dict) else None,
            )


def rounds(trace: Trace) -> Iterator[Round]:
    """Every result that asks, in the revisions that have such."""
    every = list(trace.inquiries())
    for exchange in every:
        if (exchange.result or {}).get("resultType") == "input_required":
            yield Round(exchange, next((one for one in every if _is_retry(one, exchange)), None))


def _is_retry(later: Exchange, first: Exchange) -> bool:
    """Whether it is the same request again, sent after the questions, with answers or with the state."""
    asked = first.answer
    after = asked is not None and later.request.frame.n > asked.frame.n
    same = later.method == first.method and _plain(later) == _plain(first)
    return after and same and any(key in later.params for key in OWN[:2])


def _plain(exchange: Exchange) -> Json:
    return {key: value for key, value in exchange.params.items() if key not in OWN}


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
