"""Coverage: which requirements are proved to be checked.

A row is covered at a revision if a saboteur that breaks this very row exists there, and a check cites it.
That the check catches the saboteur is not claimed here but shown: `tests/lab/suite/test_saboteurs.py` holds
every trial and fails if one saboteur gets away.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from assay.revisions.revision import Revision

from .catalogue import Suite
from .requirement import Requirement


class Cover(StrEnum):
    COVERED = "covered"
    UNPROVED = "cited"
    """A check cites it, and no saboteur shows that the check can fail."""
    EXCLUDED = "excluded"
    """It carries the reason why no check can cite it."""
    UNCOVERED = "uncovered"


class Tally(Struct, frozen=True):
    """How many rows of one kind there are, by how they are covered."""

    counts: dict[Cover, int]

    @property
    def testable(self) -> int:
        return sum(count for cover, count in self.counts.items() if cover is not Cover.EXCLUDED)

    @property
    def share(self) -> float:
        """Covered rows among those that can be tested; 1 where there is none."""
        return self.counts.get(Cover.COVERED, 0) / self.testable if self.testable else 1.0


def cover(row: Requirement, revision: Revision, suite: Suite) -> Cover:
    if row.reason is not None:
        return Cover.EXCLUDED
    if not any(row.id in check.rows for check in suite.checks.values()):
        return Cover.UNCOVERED
    broken = (one for one in suite.saboteurs.values() if one.breaks == row.id)
    return Cover.COVERED if any(one.window(revision) for one in broken) else Cover.UNPROVED


def spoken_rows(suite: Suite, revision: Revision) -> list[Requirement]:
    """The rows that the revision states with MUST or MUST NOT."""
    rows = ((row, row.level(revision)) for row in suite.requirements.values())
    return [row for row, level in rows if level is not None and level.spoken]


def tally(rows: Iterable[Requirement], revision: Revision, suite: Suite) -> Tally:
    counts: dict[Cover, int] = {}
    for row in rows:
        kind = cover(row, revision, suite)
        counts[kind] = counts.get(kind, 0) + 1
    return Tally(counts)
