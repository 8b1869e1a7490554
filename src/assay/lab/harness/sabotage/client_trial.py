"""Trials of saboteurs that are clients: the guest with one fault visits what should expose it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.run.plan import Cell, makes_sense
from assay.lab.harness.scripted_client.in_process import InProcessClient
from assay.lab.harness.scripted_server.client_run import run_client
from assay.lab.harness.scripted_server.runner import USUAL
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

from .client_saboteur import ClientSaboteur
from .trial import Judged, Trial, scenarios_for

LIMIT: Final = 30.0
"""Seconds for a guest that ends by itself; one that does not says how long it is waited for."""
PATIENCE: Final = 5.0
"""Seconds that a guest with a fault waits for an answer, which may be one that never comes."""


def guest_trials(saboteur: ClientSaboteur, suite: Suite) -> Iterator[Trial[ClientSaboteur]]:
    """On each of its transports, at the newest revision of each kind, or the newest that has the rule."""
    for transport in sorted(saboteur.transports):
        places = {one: _fit(saboteur, suite, transport, one) for one in REVISIONS}
        found = [one for one in REVISIONS if places[one].scenarios]
        for revision in [one for one in USUAL if one in found] or found[-1:]:
            yield places[revision]


def _fit(
    saboteur: ClientSaboteur, suite: Suite, transport: Transport, revision: Revision
) -> Trial[ClientSaboteur]:
    in_force = saboteur.window(revision) and suite.requirements[saboteur.breaks].level(revision)
    possible = scenarios_for(saboteur, suite) if in_force else ()
    fit = tuple(one for one in possible if makes_sense(suite, one, transport, revision))
    return Trial(saboteur, transport, revision, fit)


async def hold_guest_trial(trial: Trial[ClientSaboteur], suite: Suite) -> Judged:
    """Visit scenario after scenario until one of them exposes the saboteur."""
    saboteur = trial.saboteur
    besides: list[str] = []
    for scenario in trial.scenarios:
        cell = Cell(scenario, trial.transport, trial.revision, Facts(trial.revision.date))
        client = InProcessClient(saboteur, trial.transport, patience=PATIENCE)
        visited = await run_client(cell, client, suite, saboteur.limit or LIMIT)
        found = [(one.id, finding.requirement) for one in visited.result.checks for finding in one.findings]
        by = tuple(sorted({name for name, row in found if row == saboteur.breaks}))
        if by:
            return Judged(trial, by)
        said = visited.ended.stderr.decode(errors="replace").splitlines()[-1:]
        besides += [f"{name}:{row}" for name, row in found] + [visited.result.reason, *said]
    return Judged(trial, (), tuple(dict.fromkeys(one for one in besides if one)))
