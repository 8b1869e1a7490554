"""What a client did not do because it cannot: such a run is not applicable, whatever it shows."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from assay.lab.harness.reason import Reason, ReasonKind
from assay.lab.harness.requirement import Level
from assay.lab.harness.run.plan import Cell
from assay.lab.harness.run.recording import not_applicable

from .ability import TIMEOUT, Ability
from .client_run import ClientRun
from .client_script import ClientScript

WAITED: Final = "the client cannot do this: it does not give up after the `timeout` of a step"
UNKNOWN: Final = "the client does not know the scenario, and does not follow the steps of its context"


def within_ability(run: ClientRun, cell: Cell, ability: Ability) -> ClientRun:
    """The run, or one that is not applicable."""
    problem = _problem(run, cell, ability)
    if not problem:
        return run
    reason = Reason(ReasonKind.NOT_APPLICABLE, problem)
    result = replace(not_applicable(replace(cell, reason=reason)), seconds=run.result.seconds)
    return replace(run, result=result)


def _problem(run: ClientRun, cell: Cell, ability: Ability) -> str:
    if elsewhere := _other_address(run, cell):
        return f"the client does not use the address that it gets: it requested {elsewhere}"
    if run.exit.stopped and TIMEOUT in ability.lacking and _has_timeout(cell) and not _is_broken(run, cell):
        return WAITED
    left = bool(run.exit.status) and not run.trace.client_connected
    return UNKNOWN if left and not ability.follows_steps and cell.scenario.official is None else ""


def _other_address(run: ClientRun, cell: Cell) -> str:
    """The path that the client requested, if it never requested an endpoint at an unusual path."""
    script = cell.scenario.script or ClientScript()
    calls = run.trace.calls
    if (
        script.path == ClientScript().path
        or script.oauth
        or any("at" not in call.request.info for call in calls)
    ):
        return ""
    return next((call.sent.target for call in calls), "")


def _has_timeout(cell: Cell) -> bool:
    return any("timeout" in step for step in (cell.scenario.script or ClientScript()).steps)


def _is_broken(run: ClientRun, cell: Cell) -> bool:
    """Whether the client broke a binding rule that the scenario tests."""
    tested = [check for check in run.result.checks if check.id in cell.scenario.exercises]
    return any(Level(finding.level).binding for check in tested for finding in check.findings)
