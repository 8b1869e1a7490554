"""Scripted answers to the questions of a server."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from assay import ElicitationRequest, Elicited, Root, Sampled, SamplingRequest
from assay.model.visible import visible

if TYPE_CHECKING:
    from assay.client.options import ClientOptions

    ElicitationReply = Mapping[str, Any] | Elicited[Any] | BaseException | None
    SamplingReply = str | Sampled | BaseException
    ElicitationAnswer = ElicitationReply | Callable[[ElicitationRequest], ElicitationReply]
    SamplingAnswer = SamplingReply | Callable[[SamplingRequest], SamplingReply]


class UnscriptedQuestion(AssertionError):
    """The server asked something that the test has no answer for."""


class _Script(Struct):
    """The answers to one kind of question, in order."""

    waiting: deque[Any]
    repeated: list[Any] = []
    """Answers every further question, if there is one."""

    def next(self, problem: str) -> Any:
        if self.waiting:
            return self.waiting.popleft()
        if self.repeated:
            return self.repeated[-1]
        raise UnscriptedQuestion(problem)


class Answers:
    """Answers for questions of the server, used in the order in which they were scripted.

        answers.elicit({"size": "large"})
        answers.sample("a short joke")
        answers.roots(tmp_path)

    An answer may be a value, an exception to raise, or a function of the request that returns one of these.
    """

    def __init__(self) -> None:
        self._elicitation = _Script(deque())
        self._sampling = _Script(deque())
        self._roots: list[Root | str | os.PathLike[str]] = []
        self._unscripted: list[str] = []

    def elicit(self, *answers: ElicitationAnswer, repeat: bool = False) -> None:
        """Script answers to `elicitation/create`.

        Args:
            *answers: Each is the content of the form as a dict, `Elicited(action)`, or None to decline.
            repeat: Whether the last answer serves all further questions, too. It may stay unused.
        """
        _check_answers("elicit", answers, (Mapping, Elicited, type(None)))
        _add(self._elicitation, answers, repeat)

    def sample(self, *answers: SamplingAnswer, repeat: bool = False) -> None:
        """Script answers to `sampling/createMessage`.

        Args:
            *answers: Each is a text or a `Sampled`.
            repeat: As for `elicit`.
        """
        _check_answers("sample", answers, (str, Sampled))
        _add(self._sampling, answers, repeat)

    def roots(self, *roots: Root | str | os.PathLike[str]) -> None:
        """Set the roots of the client: paths, URIs or `Root`s. Without this, the list is empty."""
        self._roots = list(roots)

    def handlers(self) -> ClientOptions:
        """The options of a `Client` that answer from this script: `Client(server, **answers.handlers())`."""
        return {"elicitation": self._elicit, "sampling": self._sample, "roots": lambda: self._roots}

    def check(self) -> None:
        """Assert that each answer was used, and that each question had one. The fixture does this at the end
        of a test.

        Raises:
            AssertionError: it is not so.
        """
        __tracebackhide__ = True
        if self._unscripted:
            raise AssertionError("\n".join(self._unscripted))
        for kind, script in (("elicitation", self._elicitation), ("sampling", self._sampling)):
            if script.waiting:
                unused = ", ".join(repr(answer)[:80] for answer in script.waiting)
                raise AssertionError(f"the server did not ask for scripted answers to {kind}: {unused}")

    def _elicit(self, request: ElicitationRequest) -> Any:
        text = f"the server asked {request.message!r}: script an answer with answers.elicit(…)"
        return self._next(self._elicitation, text, request)

    def _sample(self, request: SamplingRequest) -> Any:
        text = "the server asked the client's model: script an answer with answers.sample(…)"
        return self._next(self._sampling, text, request)

    def _next(self, script: _Script, problem: str, request: Any) -> Any:
        try:
            answer = script.next(visible(problem))
        except UnscriptedQuestion as error:
            # The server may swallow the error: the test has to fail all the same.
            self._unscripted.append(str(error))
            raise
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def _add(script: _Script, answers: tuple[Any, ...], repeat: bool) -> None:
    if repeat:
        script.waiting.extend(answers[:-1])
        script.repeated = list(answers[-1:])
    else:
        script.waiting.extend(answers)


def _check_answers(method: str, answers: tuple[Any, ...], types: tuple[type, ...]) -> None:
    """
    Raises:
        TypeError: an answer that a client could not give, or none at all.
    """
    names = " or ".join("None" if kind is type(None) else kind.__name__ for kind in types)
    if not answers:
        raise TypeError(f"{method}() takes at least one answer: {names}")
    for answer in answers:
        if not isinstance(answer, (*types, BaseException)) and not callable(answer):
            raise TypeError(
                f"{method}() takes {names}, an exception, or a function of the request, not {answer!r}"
            )
