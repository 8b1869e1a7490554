"""Coverage: the requirements that are proved to be checked.

A requirement is covered at a revision if a check cites it and a scenario there tries a saboteur that breaks
it. `make prove` proves that the check catches the saboteur: it runs all trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from assay.lab.harness.run.plan import is_defined
from assay.lab.harness.sabotage.fault import Fault
from assay.lab.harness.sabotage.trial import scenarios_for
from assay.revisions.revision import Revision

from .catalogue import Suite
from .requirement import Requirement


class Cover(StrEnum):
    COVERED = "covered"
    UNPROVED = "cited"
    """A check cites it, but no saboteur proves that the check can fail."""
    EXCLUDED = "excluded"
    """No check can cite it, for the reason given."""
    UNCOVERED = "uncovered"


class Tally(Struct, frozen=True):
    """Number of requirements by coverage."""

    counts: dict[Cover, int]

    @property
    def testable(self) -> int:
        return sum(count for cover, count in self.counts.items() if cover is not Cover.EXCLUDED)

    @property
    def share(self) -> float:
        """Covered requirements among the testable ones; 1 if there are none."""
        return self.counts.get(Cover.COVERED, 0) / self.testable if self.testable else 1.0


def cover(requirement: Requirement, revision: Revision, suite: Suite) -> Cover:
    if requirement.reason is not None:
        return Cover.EXCLUDED
    if not any(requirement.id in check.requirements for check in suite.checks.values()):
        return Cover.UNCOVERED
    saboteurs = (saboteur for saboteur in suite.faults.values() if saboteur.breaks == requirement.id)
    is_tried = any(_is_tried(saboteur, revision, suite) for saboteur in saboteurs)
    return Cover.COVERED if is_tried else Cover.UNPROVED


def _is_tried(saboteur: Fault, revision: Revision, suite: Suite) -> bool:
    """Whether a scenario at this revision tries the saboteur."""
    return saboteur.window(revision) and any(
        is_defined(suite, scenario, transport, revision)
        for scenario in scenarios_for(saboteur, suite)
        for transport in saboteur.transports
    )


def explicit_requirements(suite: Suite, revision: Revision) -> list[Requirement]:
    """The requirements that the revision states with MUST or MUST NOT."""
    levels = ((requirement, requirement.level(revision)) for requirement in suite.requirements.values())
    return [requirement for requirement, level in levels if level is not None and level.explicit]


def tally(requirements: Iterable[Requirement], revision: Revision, suite: Suite) -> Tally:
    return Tally(dict(Counter(cover(requirement, revision, suite) for requirement in requirements)))
