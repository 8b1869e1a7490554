"""Trials of client saboteurs: the scripted client with one fault runs the scenarios that should expose it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.run.plan import Cell, is_defined
from assay.lab.harness.scripted_client.in_process import InProcessClient
from assay.lab.harness.scripted_server.client_run import run_client
from assay.lab.harness.scripted_server.runner import DEFAULT_REVISIONS
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

from .client_saboteur import ClientSaboteur
from .trial import Trial, TrialResult, breaches, checks_citing, scenarios_for

LIMIT: Final = 30.0
"""Seconds for a client that ends; a saboteur that does not end declares its own limit."""
PATIENCE: Final = 5.0
"""Seconds that a client with a fault waits for an answer, which may never come."""


def client_trials(saboteur: ClientSaboteur, suite: Suite) -> Iterator[Trial[ClientSaboteur]]:
    """On each of its transports, at the newest revision of each kind, or the newest that it applies to."""
    for transport in sorted(saboteur.transports):
        trials = {revision: _trial(saboteur, suite, transport, revision) for revision in REVISIONS}
        possible = [revision for revision, trial in trials.items() if trial.scenarios]
        for revision in [revision for revision in DEFAULT_REVISIONS if revision in possible] or possible[-1:]:
            yield trials[revision]


def _trial(
    saboteur: ClientSaboteur, suite: Suite, transport: Transport, revision: Revision
) -> Trial[ClientSaboteur]:
    in_force = saboteur.window(revision) and suite.requirements[saboteur.breaks].level(revision)
    candidates = scenarios_for(saboteur, suite) if in_force else ()
    scenarios = tuple(scenario for scenario in candidates if is_defined(suite, scenario, transport, revision))
    return Trial(saboteur, transport, revision, scenarios)


async def run_client_trial(trial: Trial[ClientSaboteur], suite: Suite) -> TrialResult:
    """Run scenarios until one of them exposes the saboteur."""
    saboteur = trial.saboteur
    others: list[str] = []
    for scenario in trial.scenarios:
        cell = Cell(scenario, trial.transport, trial.revision, Facts(trial.revision.date))
        client = InProcessClient(saboteur, trial.transport, patience=PATIENCE)
        run = await run_client(cell, client, suite, saboteur.limit or LIMIT)
        pairs = breaches(run.result)
        if caught_by := checks_citing(saboteur.breaks, pairs):
            return TrialResult(trial, caught_by)
        last_line = run.exit.stderr.decode(errors="replace").splitlines()[-1:]
        others += [*map(":".join, pairs), run.result.reason, *last_line]
    return TrialResult(trial, (), tuple(dict.fromkeys(text for text in others if text)))
