"""Trials: a saboteur against the scenarios that should expose it. Caught means: for the right reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.need import unmet
from assay.lab.harness.run.plan import Cell, makes_sense
from assay.lab.harness.run.recording import Conditions, play_cell
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Revision

from .altered_spans import with_fault
from .fault import Fault
from .saboteur import Saboteur
from .testbed import Testbed

SHORT = 0.5
"""Seconds of patience with a saboteur that is known to fall silent."""


F = TypeVar("F", bound=Fault)


class Trial(Struct, Generic[F], frozen=True):
    """One saboteur on one transport at one revision."""

    saboteur: F
    transport: Transport
    revision: Revision
    scenarios: tuple[Scenario, ...]

    def __str__(self) -> str:
        return f"{self.saboteur.id} on {self.transport} at {self.revision}"


class Judged(Struct, frozen=True):
    trial: Trial[Any]
    by: tuple[str, ...]
    """The checks that found the requirement broken that this saboteur breaks; none if it got away."""
    instead: tuple[str, ...] = ()
    """What was found besides, as `check:requirement`, and why scenarios broke off."""


def scenarios_for(saboteur: Fault, suite: Suite) -> tuple[Scenario, ...]:
    """Those that exercise a check citing the requirement; for checks that read every trace, the plain one."""
    if saboteur.scenario is not None:
        return (suite.scenarios[saboteur.scenario],)
    citing = {one.id for one in suite.checks.values() if saboteur.breaks in one.rows}
    found = tuple(one for one in suite.scenarios.values() if citing & set(one.exercises))
    return found or (suite.scenarios[suite.plain],)


def trials(saboteur: Saboteur, suite: Suite, ground: Testbed) -> Iterator[Trial[Saboteur]]:
    """Wherever the saboteur can show its fault: its transports, and the revisions that have the rule."""
    row = suite.requirements[saboteur.breaks]
    possible = scenarios_for(saboteur, suite)
    for transport, spoken in ground.known.items():
        for revision, facts in spoken.items():
            if transport not in saboteur.transports or not saboteur.window(revision):
                continue
            fit = tuple(
                one
                for one in possible
                if makes_sense(suite, one, transport, revision) and unmet(one.needs, facts) is None
            )
            if fit and row.level(revision):
                yield Trial(saboteur, transport, revision, fit)


async def hold_trial(trial: Trial[Saboteur], suite: Suite, ground: Testbed, conditions: Conditions) -> Judged:
    """Meet one that falls silent with little patience; where that shows nothing, a busy machine may have been
    slow to answer, and the usual patience decides."""
    if trial.saboteur.silent:
        judged = await _hold(trial, suite, ground, msgspec.structs.replace(conditions, patience=SHORT))
        if judged.by:
            return judged
    return await _hold(trial, suite, ground, conditions)


async def _hold(trial: Trial[Saboteur], suite: Suite, ground: Testbed, conditions: Conditions) -> Judged:
    """Play scenario after scenario until one of them exposes the saboteur."""
    besides: list[str] = []
    for scenario in trial.scenarios:
        found, reason = await _expose(trial, scenario, suite, ground, conditions)
        by = tuple(sorted({name for name, row in found if row == trial.saboteur.breaks}))
        if by:
            return Judged(trial, by)
        besides += [f"{name}:{row}" for name, row in found] + ([reason] if reason else [])
    return Judged(trial, (), tuple(dict.fromkeys(besides)))


async def _expose(
    trial: Trial[Saboteur], scenario: Scenario, suite: Suite, ground: Testbed, conditions: Conditions
) -> tuple[list[tuple[str, str]], str]:
    """Checks with the requirements that they found broken, and why the scenario is incomplete if it is."""
    subject = ground.put_before(trial.saboteur, trial.transport, trial.revision)
    facts = ground.known[trial.transport][trial.revision]
    cell = Cell(scenario, trial.transport, trial.revision, facts)
    await subject.start()
    try:
        result, _ = await play_cell(cell, subject, suite, with_fault(conditions, trial.saboteur))
    finally:
        await subject.stop()
    found = [(check.id, finding.requirement) for check in result.checks for finding in check.findings]
    return found, result.reason
