"""Recorded traffic, judged from both sides by the checks of the lab. No check asks for a stimulus: each reads
what passed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.reason import Reason, ReasonKind, stored
from assay.lab.harness.run.conclusion import outcome_of
from assay.lab.harness.run.recording import judge, now
from assay.lab.harness.run.rejudge import rejudged
from assay.lab.harness.run.run import FORMAT, CellResult, Run, SubjectRecord
from assay.lab.harness.scenario import Role
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Finding, Outcome, Verdict
from assay.lab.suites import suite_named
from assay.model.version import VERSION

from .view import settled, sides, unjudged

SUITES: Final = ("protocol", "client")
PASSIVE: Final = ("hostile.unknown",)
"""Checks of clients that the lab runs in one scenario, and that can read any traffic."""


def suites() -> list[Suite]:
    return [suite_named(name) for name in SUITES]


def judged_cells(place: str, trace: Trace) -> list[CellResult]:
    """The results of one trace as recorded, for the server and for the client."""
    trace = settled(trace)
    reason = unjudged(trace)
    if reason:
        return [_unjudged(place, side, reason) for side in sides(trace)]
    return [_titled(rejudged(suites(), [(place, side)]).cells[0], side) for side in sides(trace)]


def _titled(cell: CellResult, side: Trace) -> CellResult:
    if side.header.role == Role.CLIENT.value:
        cell = _with_passive(cell, side)
    checks = [
        replace(check, findings=[_unrepeated(each) for each in check.findings]) for check in cell.checks
    ]
    return replace(cell, title=_title(side), area=_role(side), checks=checks)


def _with_passive(cell: CellResult, side: Trace) -> CellResult:
    suite = suite_named("client")
    more = judge(suite, [suite.checks[name] for name in PASSIVE], side)
    checks = [*cell.checks, *(check for check in more if check.verdict is not Verdict.SKIPPED)]
    outcome = outcome_of([check.id for check in checks], checks, broke_off=cell.broke_off)
    return replace(cell, checks=checks, outcome=outcome)


def _unrepeated(finding: Finding) -> Finding:
    """The finding without a line that runs its scenario again: the other side's program was that."""
    return replace(finding, reproduce="") if " --scenario " in finding.reproduce else finding


def _unjudged(place: str, side: Trace, reason: str) -> CellResult:
    header = side.header
    return CellResult(
        scenario=header.scenario,
        title=_title(side),
        transport=header.transport,
        revision=header.revision,
        outcome=Outcome.NOT_APPLICABLE,
        started=header.started,
        **stored(Reason(ReasonKind.NOT_APPLICABLE, reason)),
        trace=place,
        area=_role(side),
    )


def _role(side: Trace) -> str:
    return "clients" if side.header.role == Role.CLIENT.value else "servers"


def _title(side: Trace) -> str:
    number = side.header.scenario.removeprefix("tap-").removesuffix("-client")
    return f"What the {_role(side)[:-1]} sent in conversation {number}"


def run_of(
    cells: Sequence[CellResult], subjects: Iterable[tuple[str, str]], started: str, *, strict: bool = False
) -> Run:
    """The run of a tap, as other stored runs."""
    return Run(
        format=FORMAT,
        assay=VERSION,
        started=started or now(),
        seconds=0.0,
        subjects=[SubjectRecord(name, transport) for name, transport in sorted(set(subjects))],
        cells=list(cells),
        suite=SUITES[0],
        strict=strict,
    )


def judged_run(traces: Sequence[tuple[str, Trace]], *, strict: bool = False) -> Run:
    """A run from paths and traces of taps.

    Raises:
        CheckFailed: a check has a defect.
    """
    known = [settled(trace) for _, trace in traces]
    subjects = [(trace.header.subject, trace.transport) for trace in known]
    cells = [cell for place, trace in traces for cell in judged_cells(place, trace)]
    return run_of(cells, subjects, "", strict=strict)
