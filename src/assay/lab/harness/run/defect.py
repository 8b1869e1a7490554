"""Findings of a run, grouped by defect: a check and the requirement that it found broken."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from assay.lab.harness.requirement import Level
from assay.lab.harness.verdict import CheckResult, Finding, Verdict

from .baseline import is_expected
from .run import CellResult, Run

NAMED: Final = 3
"""Places and further observations that reports list for one defect."""


class Occurrence(Struct, frozen=True):
    cell: CellResult
    check: CheckResult
    finding: Finding


class Defect(Struct, frozen=True):
    occurrences: list[Occurrence]
    """In the order of the run. Reports describe the first."""
    expected: bool
    """Whether the baseline expects the first."""
    consequences: list[Defect] = []
    """Defects that follow from this one, which do not count."""

    @property
    def cell(self) -> CellResult:
        return self.occurrences[0].cell

    @property
    def check(self) -> CheckResult:
        return self.occurrences[0].check

    @property
    def finding(self) -> Finding:
        return self.occurrences[0].finding

    @property
    def title(self) -> str:
        """The fault; in runs stored before findings had titles, the rule."""
        return self.finding.title or self.check.title

    @property
    def verdict(self) -> Verdict:
        return Verdict.FAILURE if Level(self.finding.level).binding else Verdict.WARNING

    @property
    def places(self) -> list[str]:
        return list(dict.fromkeys(place_of(occurrence.cell) for occurrence in self.occurrences))

    @property
    def where(self) -> str:
        """The scenarios in which it was found, each with its transports and their revisions."""
        scenarios: dict[str, dict[str, list[str]]] = {}
        for occurrence in self.occurrences:
            scenario, transport, revision = occurrence.cell.place
            revisions = scenarios.setdefault(scenario, {}).setdefault(transport, [])
            revisions += [revision] if revision not in revisions else []
        return listed([f"{name} ({_transports(found)})" for name, found in scenarios.items()])

    @property
    def revisions(self) -> list[str]:
        return sorted({occurrence.cell.revision for occurrence in self.occurrences})

    @property
    def summary(self) -> str:
        """One line, for a defect beneath its cause."""
        runs = len(self.places)
        return f"{self.check.id} ({self.finding.requirement}): {self.title}, in {runs} run{'s' * (runs > 1)}"

    @property
    def also_observed(self) -> list[str]:
        """Observations of other occurrences that differ from the first."""
        texts = dict.fromkeys(occurrence.finding.observed for occurrence in self.occurrences)
        return list(texts)[1:]


def defects(run: Run) -> list[Defect]:
    """Failures first, then in the order of the run; those that follow from others beneath them."""
    occurrences: dict[tuple[str, str], list[Occurrence]] = {}
    for cell in run.cells:
        for check in cell.checks:
            for finding in check.findings:
                key = (check.id, finding.requirement)
                occurrences.setdefault(key, []).append(Occurrence(cell, check, finding))
    groups = [_defect(run, group) for group in occurrences.values()]
    causes = [defect for defect in groups if not _cause_of(defect)]
    for defect in groups:
        if cause := _cause_of(defect):
            holders = [other for other in causes if other.finding.requirement == cause]
            (holders[0].consequences if holders else causes).append(defect)
    return sorted(causes, key=lambda defect: defect.verdict is not Verdict.FAILURE)


def _defect(run: Run, group: list[Occurrence]) -> Defect:
    counted = sorted(group, key=lambda occurrence: bool(occurrence.finding.follows_from))
    return Defect(counted, is_expected(run, counted[0].cell, counted[0].check), [])


def _cause_of(defect: Defect) -> str:
    """The requirement that a defect follows from, if all of its occurrences do."""
    cause = defect.finding.follows_from
    return "" if cause == defect.finding.requirement else cause


def _transports(found: dict[str, list[str]]) -> str:
    return "; ".join(f"{transport} {', '.join(sorted(revisions))}" for transport, revisions in found.items())


def place_of(cell: CellResult) -> str:
    return f"{cell.scenario} ({cell.transport}, {cell.revision})"


def listed(texts: list[str]) -> str:
    """The first texts, and how many more there are."""
    more = f" and {len(texts) - NAMED} more" if len(texts) > NAMED else ""
    return f"{', '.join(texts[:NAMED])}{more}"
