"""Trials: a saboteur runs the scenarios that should expose it.

It is caught only if a check reports the requirement that it breaks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.need import unmet
from assay.lab.harness.run.plan import Cell, is_defined
from assay.lab.harness.run.recording import Conditions, run_cell
from assay.lab.harness.run.run import CellResult
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Revision

from .altered_spans import with_altered_spans
from .fault import Fault
from .saboteur import Saboteur
from .testbed import Testbed

SHORT = 0.5
"""Seconds to wait for a saboteur that leaves something unanswered."""


F = TypeVar("F", bound=Fault)


class Trial(Struct, Generic[F], frozen=True):
    """A saboteur on one transport at one revision."""

    saboteur: F
    transport: Transport
    revision: Revision
    scenarios: tuple[Scenario, ...]

    def __str__(self) -> str:
        return f"{self.saboteur.id} on {self.transport} at {self.revision}"


class TrialResult(Struct, frozen=True):
    trial: Trial[Any]
    caught_by: tuple[str, ...]
    """The checks that report the requirement which the saboteur breaks; empty if it was not caught."""
    others: tuple[str, ...] = ()
    """Other findings as `check:requirement`, and the reasons of scenarios that broke off."""


def breaches(result: CellResult) -> list[tuple[str, str]]:
    """The check and the requirement of each finding."""
    return [(check.id, finding.requirement) for check in result.checks for finding in check.findings]


def checks_citing(requirement: str, pairs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(sorted({check for check, cited in pairs if cited == requirement}))


def scenarios_for(saboteur: Fault, suite: Suite) -> tuple[Scenario, ...]:
    """The scenarios that exercise a check which cites the requirement, else the plain scenario."""
    if saboteur.scenario is not None:
        return (suite.scenarios[saboteur.scenario],)
    citing = {check.id for check in suite.checks.values() if saboteur.breaks in check.requirements}
    scenarios = tuple(scenario for scenario in suite.scenarios.values() if citing & set(scenario.exercises))
    return scenarios or (suite.scenarios[suite.plain],)


def server_trials(saboteur: Saboteur, suite: Suite, testbed: Testbed) -> Iterator[Trial[Saboteur]]:
    """On each of its transports, at every revision that has the requirement."""
    requirement = suite.requirements[saboteur.breaks]
    candidates = scenarios_for(saboteur, suite)
    for transport, by_revision in testbed.known.items():
        for revision, facts in by_revision.items():
            if transport not in saboteur.transports or not saboteur.window(revision):
                continue
            scenarios = tuple(
                scenario
                for scenario in candidates
                if is_defined(suite, scenario, transport, revision) and unmet(scenario.needs, facts) is None
            )
            if scenarios and requirement.level(revision):
                yield Trial(saboteur, transport, revision, scenarios)


async def run_trial(
    trial: Trial[Saboteur], suite: Suite, testbed: Testbed, conditions: Conditions
) -> TrialResult:
    """A silent saboteur gets a short timeout first. If it was not caught then, the machine may have been too
    slow, and a second run with the usual timeout decides."""
    if trial.saboteur.silent:
        result = await _run(trial, suite, testbed, msgspec.structs.replace(conditions, patience=SHORT))
        if result.caught_by:
            return result
    return await _run(trial, suite, testbed, conditions)


async def _run(trial: Trial[Saboteur], suite: Suite, testbed: Testbed, conditions: Conditions) -> TrialResult:
    """Run scenarios until one of them exposes the saboteur."""
    others: list[str] = []
    for scenario in trial.scenarios:
        result = await _run_scenario(trial, scenario, suite, testbed, conditions)
        pairs = breaches(result)
        if caught_by := checks_citing(trial.saboteur.breaks, pairs):
            return TrialResult(trial, caught_by)
        others += [*map(":".join, pairs), *([result.reason] if result.reason else [])]
    return TrialResult(trial, (), tuple(dict.fromkeys(others)))


async def _run_scenario(
    trial: Trial[Saboteur], scenario: Scenario, suite: Suite, testbed: Testbed, conditions: Conditions
) -> CellResult:
    subject = testbed.subject_for(trial.saboteur, trial.transport, trial.revision)
    facts = testbed.known[trial.transport][trial.revision]
    cell = Cell(scenario, trial.transport, trial.revision, facts)
    await subject.start()
    try:
        result, _ = await run_cell(cell, subject, suite, with_altered_spans(conditions, trial.saboteur))
    finally:
        await subject.stop()
    return result
