"""The coverage page: all requirements by revision, with the reasons for exclusions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.coverage import Cover, cover
from assay.lab.harness.requirement import Requirement
from assay.lab.harness.run.run import CellResult, Run
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision


class Mark(Struct, frozen=True):
    """One requirement at one revision."""

    cover: Cover
    level: str
    link: str


class Row(Struct, frozen=True):
    requirement: Requirement
    marks: list[Mark | None]
    """One per revision; None if the rule is not in force there."""
    checks: list[str]
    broken: int
    """Number of scenario runs that broke the requirement."""

    @property
    def kinds(self) -> list[Cover]:
        return sorted({mark.cover for mark in self.marks if mark})


class Share(Struct, frozen=True):
    """Coverage of the requirements with MUST or MUST NOT in one revision."""

    counts: dict[Cover, int]

    @property
    def testable(self) -> int:
        return sum(count for kind, count in self.counts.items() if kind is not Cover.EXCLUDED)

    @property
    def covered(self) -> int:
        return self.counts.get(Cover.COVERED, 0)

    def of(self, kind: str) -> int:
        return self.counts.get(Cover(kind), 0)


class Area(Struct, frozen=True):
    name: str
    rows: list[Row]
    shares: list[Share]


class Coverage(Struct, frozen=True):
    revisions: list[str]
    shares: list[Share]
    areas: list[Area]
    kinds: tuple[str, ...] = tuple(map(str, Cover))


def coverage(run: Run, suite: Suite) -> Coverage:
    broken = Counter(row for cell in run.cells for row in _broken(cell))
    rows = [_row(row, broken[row.id], suite) for row in suite.requirements.values()]
    areas = sorted({row.requirement.area for row in rows})
    return Coverage(
        [revision.date for revision in REVISIONS],
        _shares(rows),
        [_area(name, [row for row in rows if row.requirement.area == name]) for name in areas],
    )


def _area(name: str, rows: list[Row]) -> Area:
    return Area(name, rows, _shares(rows))


def _broken(cell: CellResult) -> set[str]:
    return {finding.requirement for check in cell.checks for finding in check.findings}


def _row(row: Requirement, broken: int, suite: Suite) -> Row:
    checks = [check.id for check in suite.checks.values() if row.id in check.requirements]
    return Row(row, [_mark(row, revision, suite) for revision in REVISIONS], checks, broken)


def _mark(row: Requirement, revision: Revision, suite: Suite) -> Mark | None:
    level = row.level(revision)
    return level and Mark(cover(row, revision, suite), level.value, row.link(revision))


def _shares(rows: Iterable[Row]) -> list[Share]:
    counts: list[Counter[Cover]] = [Counter() for _ in REVISIONS]
    for row in rows:
        for count, revision, mark in zip(counts, REVISIONS, row.marks, strict=True):
            level = row.requirement.level(revision)
            if mark is not None and level is not None and level.explicit:
                count[mark.cover] += 1
    return [Share(dict(count)) for count in counts]
