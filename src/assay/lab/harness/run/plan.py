"""The plan of a run: each scenario on every transport and revision that it and the subject support."""

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
from assay.lab.harness.subject.facts import Facts, Permission
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Revision

from .run import Place

EFFECTS: Final = Reason(
    ReasonKind.NEEDS_OPTION,
    "the scenario may have side effects: allow them with --allow-effects",
    ("--allow-effects",),
)
LOAD: Final = Reason(
    ReasonKind.NEEDS_OPTION,
    "the scenario puts load on the server: allow it with --allow-load",
    ("--allow-load",),
)


class Selection(Struct, frozen=True):
    """The scenarios and revisions to run."""

    scenarios: tuple[str, ...] = ()
    """Globs; empty for all."""
    revisions: tuple[Revision, ...] = ()
    effects: bool = False
    destructive: bool = False
    """Whether tools may be called that say that they destroy."""
    load: bool = False
    first: frozenset[Place] = frozenset()
    """Places that run before all others."""
    skipped: tuple[str, ...] = ()
    """Globs of scenarios to leave out."""

    @property
    def permission(self) -> Permission:
        if self.destructive:
            return Permission.DESTRUCTIVE
        return Permission.EFFECTS if self.effects else Permission.READ_ONLY


class Cell(Struct, frozen=True):
    scenario: Scenario
    transport: Transport
    revision: Revision
    facts: Facts
    reason: Reason | None = None
    """Why the scenario does not apply here."""
    attempt: int = 1

    @property
    def place(self) -> Place:
        return self.scenario.id, self.transport, self.revision.date


def selected(scenarios: Iterable[Scenario], selection: Selection) -> list[Scenario]:
    return [
        scenario
        for scenario in scenarios
        if any(is_named(scenario, pattern) for pattern in selection.scenarios or ("*",))
        and not any(is_named(scenario, pattern) for pattern in selection.skipped)
    ]


def is_named(scenario: Scenario, pattern: str) -> bool:
    """Whether a glob matches one of the scenario's names, or its area."""
    return matches(pattern, scenario.id, scenario.official, scenario.area, *scenario.aliases)


def plan(
    suite: Suite,
    known: Mapping[Transport, Mapping[Revision, Facts]],
    selection: Selection,
    repeat: int = 1,
) -> list[Cell]:
    """The cells in the order in which they run and are reported: by scenario, transport and revision. Those
    with load come last: a server may not survive them."""
    cells = [
        Cell(scenario, transport, revision, facts)
        for scenario in selected(suite.scenarios.values(), selection)
        for transport, supported in known.items()
        for revision, facts in supported.items()
        if is_defined(suite, scenario, transport, revision)
    ]
    cells.sort(key=lambda cell: (cell.place not in selection.first, cell.scenario.load))
    return [attempt for cell in cells for attempt in _attempts(cell, selection, repeat)]


def is_defined(suite: Suite, scenario: Scenario, transport: Transport, revision: Revision) -> bool:
    """Whether the scenario exists on this transport and revision, with a requirement to check."""
    in_window = transport in scenario.transports and scenario.window(revision)
    return in_window and suite.has_requirement(scenario, transport, revision)


def _attempts(cell: Cell, selection: Selection, repeat: int) -> Iterator[Cell]:
    reason = unmet(cell.scenario.needs, cell.facts)
    if cell.scenario.effects and not selection.effects:
        reason = EFFECTS
    if cell.scenario.load and not selection.load:
        reason = LOAD
    for attempt in range(1, (1 if reason else repeat) + 1):
        yield msgspec.structs.replace(cell, reason=reason, attempt=attempt)
