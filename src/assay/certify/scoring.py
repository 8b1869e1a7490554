"""How well a server meets a profile: a pure function of the stored run, the profile and the other evidence.

Each demand gets one score: the worst result over all transports and revisions. A demand without any result is
*not measured*: it has neither passed nor failed, and its reason names what would measure it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct

from assay.certify.bundle.layout import RUN_FOLDER
from assay.lab.harness.catalogue import Suite
from assay.lab.harness.reason import Reason, ReasonKind, restored, stored
from assay.lab.harness.run.ending import INTERRUPTED
from assay.lab.harness.run.plan import is_defined
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import CheckResult, Finding, Verdict
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Revision

from .missing_observation import REASONS
from .profile_list import Demand, MeasuredBy, Profile

OPTIONS: Final = {"stdio": ("--stdio", "LINE"), "http": ("-e", "URL")}
"""The option that selects a transport, and its value."""
SCOPE: Final = ("stdio", "http")
"""The transports that a server is expected to have, unless a narrower scope is declared."""
MAX_REPRODUCTION: Final = 16_384
"""Characters of a command that reproduces a finding. A longer one is left to the trace."""
NOT_TESTED: Final = Reason(ReasonKind.NO_CHECK, "no scenario that tests it was run")
NOT_SUPPORTED: Final = Reason(ReasonKind.NO_CHECK, "this version of Assay cannot measure it")
NOT_SELECTED: Final = Reason(
    ReasonKind.NOT_SELECTED, "its scenario is not selected by --scenario", ("--scenario",)
)
OTHER_REVISIONS: Final = Reason(ReasonKind.NOT_APPLICABLE, "none of the judged revisions has it")
OUTSIDE_SCOPE: Final = Reason(
    ReasonKind.NOT_APPLICABLE, "outside the scope of this certification: the server lacks the transport"
)
NOTHING_OBSERVED: Final = Reason(ReasonKind.NOT_OBSERVED, "nothing was observed")


class Measure(StrEnum):
    MEASURED = "measured"
    NOT_APPLICABLE = "not applicable"
    """The server lacks the feature that the demand is about."""
    NOT_MEASURED = "not measured"


class Evidence(Struct, frozen=True):
    """The result for a demand that is judged without a trace."""

    status: Verdict
    reason: str = ""
    options: tuple[str, ...] = ()
    """If skipped, the options that would measure it."""
    kind: ReasonKind | None = None
    """If skipped, why."""


class Unmeasured(Struct, frozen=True):
    """Why a demand has no result."""

    measure: Measure
    reason: Reason


class _Part(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    pass


class DemandResult(_Part, frozen=True):
    """The result for a demand in one scenario, on one transport, at one revision."""

    scenario: str
    transport: str
    protocol_version: str
    status: Verdict
    observations: int
    trace: str = ""
    reason: str = ""


class DemandFinding(_Part, frozen=True):
    scenario: str
    transport: str
    protocol_version: str
    level: str
    expected: str
    observed: str
    frames: list[str]
    """Each as `<trace>#<number>`."""
    excerpt: list[str] = []
    reproduce: str = ""


class Score(_Part, frozen=True):
    id: str
    name: str
    title: str
    group: str
    category: str
    status: Verdict
    pass_: bool | None = msgspec.field(name="pass")
    """None if it was not measured."""
    scored: bool
    measure: Measure
    reason: str = ""
    core: bool = False
    results: list[DemandResult] = []
    findings: list[DemandFinding] = []
    reason_kind: ReasonKind | None = None
    """Why it was not measured, for programs."""
    reason_options: list[str] = []
    """The options that would measure it."""

    @property
    def typed_reason(self) -> Reason | None:
        return restored(self.reason, self.reason_kind, self.reason_options)


def score(
    run: Run,
    profile: Profile,
    evidence: Mapping[str, Evidence],
    unmeasured: Mapping[str, Unmeasured],
    scope: Collection[str] = SCOPE,
) -> list[Score]:
    """One score for each demand of the profile, in its order; `unmeasured` explains missing results."""
    judged = {record.transport for record in run.subjects if record.facts}
    results = _results_by_demand(run)
    scores = []
    for demand in profile.demands:
        if not demand.is_within(scope):
            outside = Unmeasured(Measure.NOT_APPLICABLE, OUTSIDE_SCOPE)
            scores.append(_score(demand, Verdict.SKIPPED, outside, [], []))
        elif demand.by is MeasuredBy.TRACES or not demand.is_within(judged):
            missing = _unmeasured(demand, judged, unmeasured)
            scores.append(_score_by_traces(demand, results.get(demand.id, ()), run, missing))
        else:
            scores.append(score_by_evidence(demand, evidence.get(demand.id)))
    return scores


def find_unmeasured(run: Run, suite: Suite) -> dict[str, Unmeasured]:
    """The demands of which no scenario ran, with the reason; one that an option would lift comes first."""
    reasons: dict[str, list[Reason]] = {}
    measured: set[str] = set()
    for cell in run.cells:
        scenario = suite.scenarios.get(cell.scenario)
        sought = suite.sought(scenario) if scenario is not None else ()
        if cell.checks:
            measured.update(sought)
            continue
        for name in sought:
            reasons.setdefault(name, []).append(cell.typed_reason or NOTHING_OBSERVED)
    unplanned = suite.requirements.keys() - reasons.keys() - measured
    return {
        **{name: _reason_unplanned(run, suite, name) for name in unplanned},
        **{name: reason_for(several) for name, several in reasons.items()},
    }


def _reason_unplanned(run: Run, suite: Suite, name: str) -> Unmeasured:
    if reason := suite.requirements[name].reason:
        return Unmeasured(Measure.NOT_MEASURED, Reason(ReasonKind.NO_CHECK, reason))
    seeking = [scenario for scenario in suite.scenarios.values() if name in suite.sought(scenario)]
    if not seeking:
        return Unmeasured(Measure.NOT_MEASURED, NOT_TESTED)
    if any(is_defined(suite, scenario, *place) for scenario in seeking for place in _judged_places(run)):
        return Unmeasured(Measure.NOT_MEASURED, NOT_SELECTED)
    return Unmeasured(Measure.NOT_APPLICABLE, OTHER_REVISIONS)


def _judged_places(run: Run) -> Iterator[tuple[Transport, Revision]]:
    for record in run.subjects:
        for facts in record.facts:
            if facts.revision in BY_DATE:
                yield Transport(record.transport), BY_DATE[facts.revision]


def reason_for(reasons: Sequence[Reason]) -> Unmeasured:
    optional = next((reason for reason in reasons if reason.options), None)
    if optional is not None:
        return Unmeasured(Measure.NOT_MEASURED, optional)
    other = next((reason for reason in reasons if reason.kind is not ReasonKind.NOT_APPLICABLE), None)
    if other is not None:
        return Unmeasured(Measure.NOT_MEASURED, other)
    return Unmeasured(Measure.NOT_APPLICABLE, reasons[0])


def _unmeasured(demand: Demand, judged: set[str], unmeasured: Mapping[str, Unmeasured]) -> Unmeasured:
    if not judged & set(demand.transports):
        options = [OPTIONS[name] for name in demand.transports if name in OPTIONS]
        hint = " or ".join(f"{option} {value}" for option, value in options)
        text = f"the server was not judged on {' or '.join(demand.transports)}; add {hint}"
        names = tuple(option for option, _ in options)
        return Unmeasured(Measure.NOT_MEASURED, Reason(ReasonKind.NOT_SELECTED, text, names))
    return unmeasured.get(demand.id, Unmeasured(Measure.NOT_MEASURED, NOT_TESTED))


def _results_by_demand(run: Run) -> dict[str, list[tuple[CellResult, CheckResult]]]:
    results: dict[str, list[tuple[CellResult, CheckResult]]] = {}
    for cell in run.cells:
        for check in cell.checks:
            results.setdefault(check.id, []).append((cell, check))
    return results


def _score_by_traces(
    demand: Demand, pairs: Iterable[tuple[CellResult, CheckResult]], run: Run, missing: Unmeasured
) -> Score:
    judged = [pair for pair in pairs if pair[0].transport in demand.transports]
    reasons = [_reason(cell, check, run) for cell, check in judged]
    results = [_result(cell, check, reason) for (cell, check), reason in zip(judged, reasons, strict=True)]
    findings = [finding for cell, check in judged for finding in _findings(cell, check.findings)]
    status, unmeasured = _worst(results, reasons, missing)
    return _score(demand, status, unmeasured, results, findings)


def _reason(cell: CellResult, check: CheckResult, run: Run) -> Reason | None:
    """Why a check has no result. In a scenario that broke off, failures count and successes do not."""
    if check.verdict is Verdict.FAILURE:
        return None
    if run.interrupted or cell.broke_off:
        cause = INTERRUPTED.text if run.interrupted else cell.reason
        return Reason(ReasonKind.BROKE_OFF, f"the scenario broke off: {cause}")
    if check.reason_kind is ReasonKind.NOT_OBSERVED:
        return REASONS.get(check.id, check.typed_reason)
    return check.typed_reason


def _result(cell: CellResult, check: CheckResult, reason: Reason | None) -> DemandResult:
    return DemandResult(
        cell.scenario,
        cell.transport,
        cell.revision,
        Verdict.SKIPPED if reason and reason.kind is ReasonKind.BROKE_OFF else check.verdict,
        check.observations,
        f"{RUN_FOLDER}{cell.trace}" if cell.trace else "",
        reason.text if reason else "",
    )


def _worst(
    results: Sequence[DemandResult], reasons: Sequence[Reason | None], missing: Unmeasured
) -> tuple[Verdict, Unmeasured | None]:
    """The verdict of a demand, and why it was not measured if it was not."""
    verdicts = {result.status for result in results}
    if Verdict.FAILURE in verdicts:
        return Verdict.FAILURE, None
    for result, reason in zip(results, reasons, strict=True):
        if reason is not None and reason.kind is ReasonKind.BROKE_OFF:
            text = f"{reason.text} ({result.transport}, {result.protocol_version})"
            return Verdict.SKIPPED, Unmeasured(Measure.NOT_MEASURED, Reason(reason.kind, text))
    for verdict in (Verdict.WARNING, Verdict.SUCCESS):
        if verdict in verdicts:
            return verdict, None
    if results and not missing.reason.options:
        return Verdict.SKIPPED, Unmeasured(Measure.NOT_MEASURED, reasons[0] or NOTHING_OBSERVED)
    return Verdict.SKIPPED, missing


def _findings(cell: CellResult, findings: Iterable[Finding]) -> Iterator[DemandFinding]:
    for finding in findings:
        yield DemandFinding(
            cell.scenario,
            cell.transport,
            cell.revision,
            finding.level,
            finding.expected,
            finding.observed,
            [f"{RUN_FOLDER}{cell.trace}#{number}" for number in finding.frames],
            finding.excerpt,
            finding.reproduce if len(finding.reproduce) <= MAX_REPRODUCTION else "",
        )


def score_by_evidence(demand: Demand, evidence: Evidence | None) -> Score:
    if demand.by is MeasuredBy.LATER or evidence is None:
        evidence = Evidence(Verdict.SKIPPED, NOT_SUPPORTED.text)
    unmeasured = None
    if evidence.status is Verdict.SKIPPED:
        kind = evidence.kind or (ReasonKind.NEEDS_OPTION if evidence.options else ReasonKind.NO_CHECK)
        unmeasured = Unmeasured(Measure.NOT_MEASURED, Reason(kind, evidence.reason, evidence.options))
    bare = _score(demand, evidence.status, unmeasured, [], [])
    return msgspec.structs.replace(bare, reason=evidence.reason)


def _score(
    demand: Demand,
    status: Verdict,
    unmeasured: Unmeasured | None,
    results: list[DemandResult],
    findings: list[DemandFinding],
) -> Score:
    return Score(
        id=demand.id,
        name=demand.id,
        title=demand.title,
        group=demand.group,
        category=demand.category,
        status=status,
        pass_=None if unmeasured else status is not Verdict.FAILURE,
        scored=demand.scored,
        measure=unmeasured.measure if unmeasured else Measure.MEASURED,
        **stored(unmeasured.reason if unmeasured else None),
        core=demand.core,
        results=results,
        findings=findings,
    )
