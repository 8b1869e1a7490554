"""The search with Hypothesis, which generates cases and shrinks those with a finding.

Hypothesis is synchronous, so it runs in a separate thread; `attempt` calls the event loop from there.
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
from .judge import BrokenRule

Attempt = Callable[[Case], BrokenRule | None]
SHRINKING: Final = 20.0
"""Seconds for shrinking a finding."""


class StopSearch(BaseException):
    """Ends Hypothesis at once; it would catch an `Exception`."""


class PropertyFailed(Exception):
    """Raised for a case with the finding, so that Hypothesis shrinks it."""


class Search:
    """A round of cases from one seed, up to the first new finding."""

    def __init__(
        self,
        attempt: Attempt,
        is_new: Callable[[BrokenRule, Case], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._attempt = attempt
        self._is_new = is_new
        self._clock = clock
        self._until = float("inf")
        self._results: dict[Case, bool] = {}
        self.broken: BrokenRule | None = None
        self._focus: int | None = None
        self.first: Case | None = None
        self.smallest: Case | None = None

    def run(self, make: Callable[[Choices], Case], seed: int, examples: int) -> None:
        """
        Raises:
            StopSearch: `attempt` raised it before there was a finding.
        """
        options = settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
            print_blob=False,
            report_multiple_bugs=False,
        )
        # A single strategy for bytes, because each draw of a strategy costs time.
        rows = strategies.binary(min_size=LENGTH, max_size=LENGTH)
        focused = rows.map(lambda row: self._focused(make(Choices(row))))
        search = hypothesis.seed(seed)(options(hypothesis.given(focused)(self._property)))
        try:
            search()
        except (PropertyFailed, HypothesisException):
            pass  # `smallest` has the case; confirming it later shows whether it was flaky
        except StopSearch:
            if self.smallest is None:
                raise

    def _property(self, case: Case) -> None:
        if self._clock() > self._until:
            raise StopSearch
        # Different choices often give the same case: while shrinking, each case runs only once.
        known = self._results.get(case) if self.broken is not None else None
        if known or (known is None and self._has_finding(case)):
            raise PropertyFailed

    def _has_finding(self, case: Case) -> bool:
        broken = self._attempt(case)
        matches = broken is not None and self._matches(broken, case)
        self._results[case] = matches
        if matches and self.first is None:
            self.first = case
            self._isolate(case)
        if matches and (self.smallest is None or case.size < self.smallest.size):
            self.smallest = case
        return matches

    def _isolate(self, case: Case) -> None:
        """Look for a single step with the same finding; shrinking then concentrates on that step."""
        if case.together or len(case.steps) == 1:
            return
        for place, step in enumerate(case.steps):
            if self._has_finding(Case((step,))):
                self._focus = place
                return

    def _focused(self, case: Case) -> Case:
        if self._focus is None or case.together:
            return case
        return Case((case.steps[min(self._focus, len(case.steps) - 1)],))

    def _matches(self, broken: BrokenRule, case: Case) -> bool:
        """Whether it is the finding of this round; the first new one becomes that."""
        if self.broken is None and self._is_new(broken, case):
            self.broken = broken
            self._until = self._clock() + SHRINKING
        return broken == self.broken
