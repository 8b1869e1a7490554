"""Choices, of which all that is random is made. Each is a number, and the lowest stands for the simplest.

A grammar is written in plain functions of `Choices`. Whoever makes the numbers decides what it is for: the
engine of hypothesis searches and shrinks with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")
Number = Callable[[int], int]
"""Below which number → a number from nought."""


class Choices:
    def __init__(self, number: Number) -> None:
        self.number = number
        self._used: list[Any] = []

    def unused(self, options: Sequence[T]) -> T:
        """One that was not picked here before, as long as there are such."""
        left = [one for one in options if one not in self._used] or options
        self._used.append(self.pick(left))
        found: T = self._used[-1]
        return found

    def pick(self, options: Sequence[T]) -> T:
        """One of them: the first is the simplest."""
        return options[self.number(len(options))]

    def count(self, most: int) -> int:
        """A number up to `most`, that too."""
        return self.number(most + 1)

    def chance(self, of: int) -> bool:
        """True once in so many times, false where things are simple."""
        return self.number(of) == of - 1

    def text(self, alphabet: Sequence[str], longest: int) -> str:
        return "".join(self.pick(alphabet) for _ in range(self.count(longest)))


@cache
def _below(limit: int) -> st.SearchStrategy[int]:
    return st.integers(0, limit - 1)


def made_by(make: Callable[[Choices], T]) -> st.SearchStrategy[T]:
    """What hypothesis draws: few plain numbers, since each part of a strategy costs more than a message."""

    @st.composite
    def drawn(draw: Any) -> T:
        return make(Choices(lambda limit: draw(_below(limit)) if limit > 1 else 0))

    return drawn()
