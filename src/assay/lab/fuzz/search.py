"""Hypothesis at work: makes cases, and makes those that show something smaller.

Its engine is synchronous, so it lives in a thread of its own; `attempt` reaches the event loop from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, settings, strategies
from hypothesis.errors import HypothesisException

from .case import Case
from .choice import LENGTH, Choices
from .jury import Broken

Attempt = Callable[[Case], Broken | None]
SHRINKING: Final = 20.0
"""Seconds for making one finding smaller."""


class Enough(BaseException):
    """Ends the engine at once: it lets nothing else through."""


class Shown(Exception):
    """What a property raises that does not hold."""


class Search:
    """One round: a number of cases from one seed, until one of them shows something new."""

    def __init__(
        self,
        attempt: Attempt,
        is_new: Callable[[Broken, Case], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._attempt = attempt
        self._is_new = is_new
        self._clock = clock
        self._until = float("inf")
        self._seen: dict[Case, bool] = {}
        self.broken: Broken | None = None
        self._focus: int | None = None
        self.first: Case | None = None
        self.smallest: Case | None = None

    def run(self, make: Callable[[Choices], Case], seed: int, examples: int) -> None:
        """
        Raises:
            Enough: the attempt said so, and nothing was found yet.
        """
        made = settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
            print_blob=False,
            report_multiple_bugs=False,
        )
        # One row of bytes, since every part of a strategy costs time.
        rows = strategies.binary(min_size=LENGTH, max_size=LENGTH)
        focused = rows.map(lambda row: self._focused(make(Choices(row))))
        search = hypothesis.seed(seed)(made(hypothesis.given(focused)(self._holds)))
        try:
            search()
        except (Shown, HypothesisException):
            pass  # what it has to say is in `smallest`; that it came only once, confirming finds out
        except Enough:
            if self.smallest is None:
                raise

    def _holds(self, case: Case) -> None:
        if self._clock() > self._until:
            raise Enough
        # Different choices often make the same case: while shrinking, only new ones are worth a try.
        known = self._seen.get(case) if self.broken is not None else None
        if known or (known is None and self._shows(case)):
            raise Shown

    def _shows(self, case: Case) -> bool:
        broken = self._attempt(case)
        shown = broken is not None and self._is_wanted(broken, case)
        self._seen[case] = shown
        if shown and self.first is None:
            self.first = case
            self._isolate(case)
        if shown and (self.smallest is None or case.size < self.smallest.size):
            self.smallest = case
        return shown

    def _isolate(self, case: Case) -> None:
        """Find one step that shows it by itself: all the shrinking that follows is then about that one."""
        if case.together or len(case.steps) == 1:
            return
        for place, step in enumerate(case.steps):
            if self._shows(Case((step,))):
                self._focus = place
                return

    def _focused(self, case: Case) -> Case:
        if self._focus is None or case.together:
            return case
        return Case((case.steps[min(self._focus, len(case.steps) - 1)],))

    def _is_wanted(self, broken: Broken, case: Case) -> bool:
        if self.broken is None and self._is_new(broken, case):
            self.broken = broken
            self._until = self._clock() + SHRINKING
        return broken == self.broken
