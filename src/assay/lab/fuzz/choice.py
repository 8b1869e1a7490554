"""Choices: the random bytes from which a case is generated; zero always means the simplest option.

A grammar consists of plain functions of `Choices`. Hypothesis generates the bytes, and shrinks those that
lead to a finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

T = TypeVar("T")
HEAD, PART, PARTS = 4, 20, 3
LENGTH: Final = HEAD + PARTS * PART
"""The number of choices of a case; once they are used up, the simplest options are taken."""


class Choices:
    def __init__(self, row: bytes, used: list[Any] | None = None) -> None:
        self._row = row
        self._left = iter(row)
        self._used: list[Any] = [] if used is None else used

    def part(self, place: int) -> Choices:
        """The choices of one of the parts, which shrinking another part does not shift."""
        begin = HEAD + place * PART
        return Choices(self._row[begin : begin + PART], self._used)

    def number(self, limit: int) -> int:
        """A number from zero to below the limit."""
        return next(self._left, 0) % limit

    def pick(self, options: Sequence[T]) -> T:
        """One of the options; the first is the simplest."""
        return options[self.number(len(options))]

    def unused(self, options: Sequence[T]) -> T:
        """An option that was not picked before in this case, as long as there is one."""
        option = self.pick([option for option in options if option not in self._used] or options)
        self._used.append(option)
        return option

    def count(self, most: int) -> int:
        """A number from zero to `most`."""
        return self.number(most + 1)

    def chance(self, of: int) -> bool:
        """True with a probability of 1 in `of`; False is the simplest."""
        return self.number(of) == of - 1

    def text(self, alphabet: Sequence[str], longest: int) -> str:
        return "".join(self.pick(alphabet) for _ in range(self.count(longest)))
