"""Coverage: which requirements are proved to be checked.

A row is covered at a revision if a check cites it, and a scenario there meets a saboteur that breaks it.
That the check catches the saboteur is not claimed here but shown: `tests/lab/suite/test_saboteurs.py` holds
every trial and fails if one saboteur gets away.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from assay.lab.harness.run.plan import makes_sense
from assay.lab.harness.sabotage.fault import Fault
from assay.lab.harness.sabotage.trial import scenarios_for
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
    if not any(row.id in check.requirements for check in suite.checks.values()):
        return Cover.UNCOVERED
    breaking = (one for one in suite.faults.values() if one.breaks == row.id)
    return Cover.COVERED if any(_is_tried(one, revision, suite) for one in breaking) else Cover.UNPROVED


def _is_tried(saboteur: Fault, revision: Revision, suite: Suite) -> bool:
    """Whether a scenario meets the saboteur there."""
    return saboteur.window(revision) and any(
        makes_sense(suite, scenario, transport, revision)
        for scenario in scenarios_for(saboteur, suite)
        for transport in saboteur.transports
    )


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
