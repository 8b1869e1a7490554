"""Choices, of which all that is random is made: a row of bytes, each a number, nought for the simplest.

A grammar is written in plain functions of `Choices`. The engine of hypothesis makes the rows, and makes those
that show something simpler, byte by byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

T = TypeVar("T")
HEAD, PART, PARTS = 4, 20, 3
LENGTH: Final = HEAD + PARTS * PART
"""Choices of one case; what is made when they have run out is the simplest."""


class Choices:
    def __init__(self, row: bytes, used: list[Any] | None = None) -> None:
        self._row = row
        self._left = iter(row)
        self._used: list[Any] = [] if used is None else used

    def part(self, place: int) -> Choices:
        """The choices of one of three parts, which do not move when another part gets simpler."""
        begin = HEAD + place * PART
        return Choices(self._row[begin : begin + PART], self._used)

    def number(self, limit: int) -> int:
        """A number from nought to below the limit."""
        return next(self._left, 0) % limit

    def pick(self, options: Sequence[T]) -> T:
        """One of them: the first is the simplest."""
        return options[self.number(len(options))]

    def unused(self, options: Sequence[T]) -> T:
        """One that was not picked here before, as long as there are such."""
        left = [one for one in options if one not in self._used] or options
        found = self.pick(left)
        self._used.append(found)
        return found

    def count(self, most: int) -> int:
        """A number up to `most`, that too."""
        return self.number(most + 1)

    def chance(self, of: int) -> bool:
        """True once in so many times, false where things are simple."""
        return self.number(of) == of - 1

    def text(self, alphabet: Sequence[str], longest: int) -> str:
        return "".join(self.pick(alphabet) for _ in range(self.count(longest)))
