"""Judges stored traces as if they had just been recorded."""

from __future__ import annotations

from collections.abc import Sequence

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.check import Check
from assay.lab.harness.reason import Reason, ReasonKind, stored
from assay.lab.harness.scenario import Role
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Verdict
from assay.model.version import VERSION

from .conclusion import outcome_of
from .folding import counted_once
from .recording import judge, now
from .run import FORMAT, CellResult, Run, SubjectRecord


def rejudged(suites: Sequence[Suite], traces: Sequence[tuple[str, Trace]], *, strict: bool = False) -> Run:
    """A run from paths and traces. The suite that has the scenario judges its trace; traces of an unknown
    scenario are judged by the first suite for that role.

    Raises:
        CheckFailed: a check has a defect.
    """
    suite = _suite_of(traces[0][1], suites)
    subjects = {(trace.header.subject, trace.header.transport) for _, trace in traces}
    return Run(
        format=FORMAT,
        assay=VERSION,
        started=now(),
        seconds=0.0,
        subjects=[SubjectRecord(name, transport) for name, transport in sorted(subjects)],
        cells=counted_once(suite, [_cell(_suite_of(trace, suites), place, trace) for place, trace in traces]),
        suite=suite.name,
        role=traces[0][1].header.role,
        strict=strict,
    )


def _suite_of(trace: Trace, suites: Sequence[Suite]) -> Suite:
    candidates = [suite for suite in suites if suite.role.value == trace.header.role]
    return next((suite for suite in candidates if trace.header.scenario in suite.scenarios), candidates[0])


def _cell(suite: Suite, place: str, trace: Trace) -> CellResult:
    header = trace.header
    scenario = suite.scenarios.get(header.scenario)
    checks = judge(suite, _checks(suite, header.scenario), trace)
    if scenario is None:
        checks = [check for check in checks if check.verdict is not Verdict.SKIPPED]
    sought = suite.sought(scenario) if scenario else [check.id for check in checks]
    reason = _broke_off(trace)
    return CellResult(
        scenario=header.scenario,
        title=scenario.title if scenario else header.scenario,
        transport=header.transport,
        revision=header.revision,
        outcome=outcome_of(sought, checks, broke_off=bool(reason)),
        started=header.started,
        broke_off=bool(reason),
        **stored(Reason(ReasonKind.BROKE_OFF, reason) if reason else None),
        checks=checks,
        trace=place,
        official=(scenario.official if scenario else None) or "",
        area=scenario.area if scenario else header.scenario,
    )


def _broke_off(trace: Trace) -> str:
    if not trace.header.closed:
        return "the recording ended before the scenario did"
    is_missing = trace.header.role == Role.CLIENT.value and not trace.client_connected
    return "the client never connected" if is_missing else ""


def _checks(suite: Suite, name: str) -> list[Check]:
    """The checks of a scenario. For an unknown scenario, all checks of servers, but only those checks of
    clients that read every trace: the others judge whether a client did what its scenario asked for."""
    scenario = suite.scenarios.get(name)
    if scenario is not None:
        return suite.judging(scenario)
    return [check for check in suite.checks.values() if check.everywhere or suite.role is Role.SERVER]
