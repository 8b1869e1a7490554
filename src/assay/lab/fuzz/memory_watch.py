"""Watches the memory of the processes that run cases."""

from __future__ import annotations

from typing import Final

from assay.lab.harness.subject.process_tree import resident
from assay.lab.harness.verdict import CheckResult, Finding, Verdict

from .judge import BrokenRule
from .memory_growth import MemorySamples
from .rules import own_rules
from .target import FuzzTarget

EVERY: Final = 20
"""Cases between two samples."""
REQUIREMENT: Final = "FUZZ-05"
CHECK: Final = "fuzz.memory_watch"
TITLE: Final = "Memory does not grow without limit"


class MemoryWatch:
    def __init__(self) -> None:
        self._samples: dict[int, MemorySamples] = {}
        self._cases: dict[int, int] = {}
        self._reported: set[int] = set()

    def sample(self, target: FuzzTarget) -> None:
        """Count a case, and take a sample after every few of them."""
        number = target.process_id
        if number is None:
            return
        self._cases[number] = self._cases.get(number, 0) + 1
        if self._cases[number] % EVERY == 0:
            size = resident(number)
            if size is not None:
                self._samples.setdefault(number, MemorySamples()).add(self._cases[number], size)

    def finding(self, target: FuzzTarget) -> tuple[BrokenRule, CheckResult] | None:
        """A finding about the target's process, at most once for each process."""
        number = target.process_id
        samples = self._samples.get(number) if number is not None else None
        growth = samples.growth() if samples is not None else None
        if growth is None or number is None or number in self._reported:
            return None
        self._reported.add(number)
        requirement = own_rules()[REQUIREMENT]
        level = requirement.levels[target.context.revision.date]
        finding = Finding(
            requirement=REQUIREMENT,
            level=level.value,
            statement=requirement.statement,
            link=requirement.link(target.context.revision),
            expected="memory that levels off",
            observed=str(growth),
            frames=[],
        )
        verdict = Verdict.FAILURE if level.binding else Verdict.WARNING
        result = CheckResult(CHECK, TITLE, verdict, {REQUIREMENT: finding.link}, 1, [finding])
        return BrokenRule(CHECK, REQUIREMENT, level.value), result
