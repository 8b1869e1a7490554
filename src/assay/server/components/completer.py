"""Completion: suggested values for an argument of a prompt or a variable of a resource template."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, Literal, get_args, get_origin

from assay.model.error import RegistrationError
from assay.model.result import Completion
from assay.server.calls.call import Call
from assay.server.handlers.concurrency import ConcurrencyLimit
from assay.server.handlers.injection import make_invocable
from assay.server.handlers.signature import read_signature

MOST_VALUES: Final = 100
"""The most values in one answer (server/utilities/completion)."""


class Completer:
    """A function that suggests values. It may take `value`, the text so far, and `arguments`, the values of
    the other arguments."""

    __slots__ = ("_invoke", "_names", "name")

    def __init__(self, function: Callable[..., Any], limits: tuple[ConcurrencyLimit, ...]) -> None:
        signature = read_signature(function)
        self.name = signature.name
        self._names = tuple(parameter.name for parameter in signature.parameters)
        if not set(self._names) <= {"value", "arguments"}:
            raise RegistrationError(
                f"completion {signature.name}: its parameters may be value, arguments and a Context"
            )
        self._invoke = make_invocable(function, signature, limits)

    async def complete(self, value: str, arguments: dict[str, str], call: Call) -> Completion:
        inputs = {"value": value, "arguments": arguments}
        suggestions = await self._invoke({name: inputs[name] for name in self._names}, call)
        if isinstance(suggestions, Completion):
            return _cut(suggestions.values, suggestions.total, suggestions.has_more)
        return rank_and_cut(value, list(suggestions))


def rank_and_cut(value: str, candidates: list[str]) -> Completion:
    ranked = rank(value, candidates)
    return _cut(ranked, len(ranked), None)


def _cut(values: list[str], total: int | None, has_more: bool | None) -> Completion:
    more = len(values) > MOST_VALUES or bool(has_more) or (total is not None and total > len(values))
    return Completion(values[:MOST_VALUES], total, more)


def rank(value: str, candidates: list[str]) -> list[str]:
    """Candidates that match the text so far, best first; equal ones keep their order."""
    typed = value.casefold()
    graded = [(_grade(typed, candidate.casefold()), candidate) for candidate in candidates]
    return [candidate for grade, candidate in sorted(graded, key=lambda pair: pair[0]) if grade < NO_MATCH]


NO_MATCH: Final = 5


def _grade(typed: str, candidate: str) -> int:
    tests = (
        candidate == typed,
        candidate.startswith(typed),
        any(word.startswith(typed) for word in candidate.replace("-", " ").replace("_", " ").split()),
        typed in candidate,
        _is_subsequence(typed, candidate),
    )
    return next((grade for grade, passed in enumerate(tests) if passed), NO_MATCH)


def _is_subsequence(typed: str, candidate: str) -> bool:
    letters = iter(candidate)
    return all(letter in letters for letter in typed)


def choices(annotation: Any) -> list[str]:
    """The values of a Literal or an Enum, also inside other types."""
    annotation = getattr(annotation, "__value__", annotation)  # of an alias
    if get_origin(annotation) is Literal:
        return [str(choice) for choice in get_args(annotation)]
    if inspect.isclass(annotation) and issubclass(annotation, Enum):
        return [str(member.value) for member in annotation]
    return [choice for part in get_args(annotation) for choice in choices(part)]
