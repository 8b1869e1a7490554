"""Watches the memory of the processes that cases are tried on."""

from __future__ import annotations

from typing import Final

from assay.lab.harness.verdict import CheckResult, Finding, Verdict

from .growth import Samples, resident
from .jury import Broken
from .place import Place
from .rules import own_rules

EVERY: Final = 20
"""Cases between two looks at a process."""
ROW: Final = "FUZZ-05"
CHECK: Final = "fuzz.memory"
TITLE: Final = "Memory does not grow with the number of messages"


class Memory:
    def __init__(self) -> None:
        self._samples: dict[int, Samples] = {}
        self._cases: dict[int, int] = {}
        self._told: set[int] = set()

    def sample(self, place: Place) -> None:
        """Count a case; now and then look at the process that served it."""
        number = place.process_id
        if number is None:
            return
        self._cases[number] = self._cases.get(number, 0) + 1
        if self._cases[number] % EVERY == 0:
            size = resident(number)
            if size is not None:
                self._samples.setdefault(number, Samples()).take(self._cases[number], size)

    def grown(self, place: Place) -> tuple[Broken, CheckResult] | None:
        """What is to be said of its process, once."""
        number = place.process_id
        samples = self._samples.get(number) if number is not None else None
        growth = samples.growth() if samples is not None else None
        if growth is None or number is None or number in self._told:
            return None
        self._told.add(number)
        row = own_rules()[ROW]
        level = row.levels[place.ground.revision.date]
        finding = Finding(
            requirement=ROW,
            level=level.value,
            statement=row.statement,
            link=row.link(place.ground.revision),
            expected="memory that levels off",
            observed=str(growth),
            frames=[],
        )
        verdict = Verdict.FAILURE if level.binding else Verdict.WARNING
        result = CheckResult(CHECK, TITLE, verdict, {ROW: finding.link}, 1, [finding])
        return Broken(CHECK, ROW, level.value), result
