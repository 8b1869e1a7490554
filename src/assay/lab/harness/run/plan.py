"""Which scenarios run where: every scenario on every transport and revision that it and the subject have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.naming import matches
from assay.lab.harness.need import unmet
from assay.lab.harness.reason import Reason, ReasonKind
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Revision

from .run import Place

EFFECTS: Final = Reason(
    ReasonKind.NEEDS_OPTION,
    "it may change something: allow it with --allow-effects",
    ("--allow-effects",),
)


class Selection(Struct, frozen=True):
    """What the user wants to run."""

    scenarios: tuple[str, ...] = ()
    """Globs; all where there is none."""
    revisions: tuple[Revision, ...] = ()
    effects: bool = False
    first: frozenset[Place] = frozenset()
    """What comes before all else."""


class Cell(Struct, frozen=True):
    scenario: Scenario
    transport: Transport
    revision: Revision
    facts: Facts
    hindrance: Reason | None = None
    """Why it does not apply here."""
    attempt: int = 1

    @property
    def place(self) -> Place:
        return self.scenario.id, self.transport, self.revision.date


def chosen(scenarios: Iterable[Scenario], selection: Selection) -> list[Scenario]:
    if not selection.scenarios:
        return list(scenarios)
    return [one for one in scenarios if any(is_named(one, pattern) for pattern in selection.scenarios)]


def is_named(scenario: Scenario, pattern: str) -> bool:
    """Whether a glob means it, by any of its names."""
    return matches(pattern, scenario.id, scenario.official, *scenario.aliases)


def plan(
    suite: Suite,
    known: Mapping[Transport, Mapping[Revision, Facts]],
    selection: Selection,
    repeat: int = 1,
) -> list[Cell]:
    """Every cell in the order in which it is played and reported: by scenario, transport and revision."""
    places = [
        Cell(scenario, transport, revision, facts)
        for scenario in chosen(suite.scenarios.values(), selection)
        for transport, spoken in known.items()
        for revision, facts in spoken.items()
        if makes_sense(suite, scenario, transport, revision)
    ]
    places.sort(key=lambda cell: cell.place not in selection.first)
    return [cell for place in places for cell in _attempts(place, selection, repeat)]


def makes_sense(suite: Suite, scenario: Scenario, transport: Transport, revision: Revision) -> bool:
    meant = transport in scenario.transports and scenario.window(revision)
    return meant and suite.is_worth_playing(scenario, transport, revision)


def _attempts(place: Cell, selection: Selection, repeat: int) -> Iterator[Cell]:
    hindrance = unmet(place.scenario.needs, place.facts)
    if place.scenario.effects and not selection.effects:
        hindrance = EFFECTS
    for attempt in range(1, (1 if hindrance else repeat) + 1):
        yield msgspec.structs.replace(place, hindrance=hindrance, attempt=attempt)
