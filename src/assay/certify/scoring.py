"""How far a server meets a profile: a pure function of the stored run, the list, and what the evidence shows.

Each demand comes to one score, the worst over all places where it could be seen. Whatever was not seen is
*not measured*: it has neither passed nor failed, and its reason says what would measure it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct

from assay.certify.bundle.layout import RUN_FOLDER
from assay.lab.harness.catalogue import Suite
from assay.lab.harness.reason import Reason, ReasonKind, restored, stored
from assay.lab.harness.run.plan import makes_sense
from assay.lab.harness.run.recording import INTERRUPTED
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import CheckResult, Finding, Verdict
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Revision

from .profile_list import By, Demand, Profile
from .unobserved import REASONS

OPTIONS: Final = {"stdio": ("--stdio", "LINE"), "http": ("-e", "URL")}
"""How a transport comes to be judged."""
LONGEST: Final = 16_384
"""Characters of a line that repeats a finding; what is longer is in the trace."""
UNSEEN: Final = Reason(ReasonKind.NO_CHECK, "no scenario was played that shows it")
LATER: Final = Reason(ReasonKind.NO_CHECK, "this version of Assay does not measure it")
LEFT_OUT: Final = Reason(
    ReasonKind.NOT_SELECTED, "its scenario is not among those of --scenario", ("--scenario",)
)
OTHER_REVISIONS: Final = Reason(ReasonKind.NOT_APPLICABLE, "none of the revisions that were judged has it")
NOTHING: Final = Reason(ReasonKind.NOT_OBSERVED, "nothing was observed")


class Measure(StrEnum):
    MEASURED = "measured"
    NOT_APPLICABLE = "not applicable"
    """The server does not have what the demand is about."""
    NOT_MEASURED = "not measured"


class Evidence(Struct, frozen=True):
    """What comes out where no trace is needed."""

    status: Verdict
    reason: str = ""
    options: tuple[str, ...] = ()
    """Where it is skipped: those that would measure it."""


class Unmeasured(Struct, frozen=True):
    """Why nothing was seen of a demand."""

    measure: Measure
    reason: Reason


class _Part(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    pass


class Seen(_Part, frozen=True):
    """A demand in one scenario, on one transport, at one revision."""

    scenario: str
    transport: str
    protocol_version: str
    status: Verdict
    observations: int
    trace: str = ""
    reason: str = ""


class Broken(_Part, frozen=True):
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
    """None where it was not measured."""
    scored: bool
    measure: Measure
    reason: str = ""
    core: bool = False
    results: list[Seen] = []
    findings: list[Broken] = []
    reason_kind: ReasonKind | None = None
    """Why it was not measured, for programs."""
    reason_options: list[str] = []

    @property
    def typed_reason(self) -> Reason | None:
        return restored(self.reason, self.reason_kind, self.reason_options)


def score(
    run: Run, profile: Profile, evidence: Mapping[str, Evidence], excuses: Mapping[str, Unmeasured]
) -> list[Score]:
    """One for each demand, in the order of the list. `excuses` are for demands of which nothing was seen."""
    judged = {record.transport for record in run.subjects if record.facts}
    places = _places(run)
    made = []
    for demand in profile.demands:
        if demand.by is By.TRACES:
            made.append(_by_traces(demand, places.get(demand.id, ()), run, _excuse(demand, judged, excuses)))
        else:
            made.append(_by_evidence(demand, evidence.get(demand.id)))
    return made


def excuses(run: Run, suite: Suite) -> dict[str, Unmeasured]:
    """Of demands whose scenarios were not played: what an option would change is told before all else."""
    found: dict[str, list[Reason]] = {}
    played: set[str] = set()
    for cell in run.cells:
        scenario = suite.scenarios.get(cell.scenario)
        sought = suite.sought(scenario) if scenario is not None else ()
        if cell.checks:
            played.update(sought)
            continue
        for name in sought:
            found.setdefault(name, []).append(cell.typed_reason or NOTHING)
    never = suite.requirements.keys() - found.keys() - played
    return {
        **{name: _never(run, suite, name) for name in never},
        **{name: reason_for(reasons) for name, reasons in found.items()},
    }


def _never(run: Run, suite: Suite, name: str) -> Unmeasured:
    if reason := suite.requirements[name].reason:
        return Unmeasured(Measure.NOT_MEASURED, Reason(ReasonKind.NO_CHECK, reason))
    seeking = [one for one in suite.scenarios.values() if name in suite.sought(one)]
    if not seeking:
        return Unmeasured(Measure.NOT_MEASURED, UNSEEN)
    if any(makes_sense(suite, one, *place) for one in seeking for place in _met(run)):
        return Unmeasured(Measure.NOT_MEASURED, LEFT_OUT)
    return Unmeasured(Measure.NOT_APPLICABLE, OTHER_REVISIONS)


def _met(run: Run) -> Iterator[tuple[Transport, Revision]]:
    """Where the server was spoken to."""
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


def _excuse(demand: Demand, judged: set[str], excuses: Mapping[str, Unmeasured]) -> Unmeasured:
    if not judged & set(demand.transports):
        where = " or ".join(demand.transports)
        options = [OPTIONS[name] for name in demand.transports if name in OPTIONS]
        remedy = " or ".join(f"{option} {value}" for option, value in options)
        text = f"the server was not judged on {where}; {remedy} does that"
        names = tuple(option for option, _ in options)
        return Unmeasured(Measure.NOT_MEASURED, Reason(ReasonKind.NOT_SELECTED, text, names))
    return excuses.get(demand.id, Unmeasured(Measure.NOT_MEASURED, UNSEEN))


def _places(run: Run) -> dict[str, list[tuple[CellResult, CheckResult]]]:
    found: dict[str, list[tuple[CellResult, CheckResult]]] = {}
    for cell in run.cells:
        for check in cell.checks:
            found.setdefault(check.id, []).append((cell, check))
    return found


def _by_traces(
    demand: Demand, places: Iterable[tuple[CellResult, CheckResult]], run: Run, excuse: Unmeasured
) -> Score:
    judged = [pair for pair in places if pair[0].transport in demand.transports]
    reasons = [_reason(cell, check, run) for cell, check in judged]
    seen = [_seen(cell, check, reason) for (cell, check), reason in zip(judged, reasons, strict=True)]
    broken = [one for cell, check in judged for one in _broken(cell, check.findings)]
    status, unseen = _worst(seen, reasons, excuse)
    return _score(demand, status, unseen, seen, broken)


def _reason(cell: CellResult, check: CheckResult, run: Run) -> Reason | None:
    """What is good in a scenario that did not reach its end proves nothing; what is bad stays bad."""
    if check.verdict is Verdict.FAILURE:
        return None
    if run.interrupted or cell.broke_off:
        unfinished = INTERRUPTED.text if run.interrupted else cell.reason
        return Reason(ReasonKind.BROKE_OFF, f"the scenario broke off: {unfinished}")
    if check.reason_kind is ReasonKind.NOT_OBSERVED:
        return REASONS.get(check.id, check.typed_reason)
    return check.typed_reason


def _seen(cell: CellResult, check: CheckResult, reason: Reason | None) -> Seen:
    return Seen(
        cell.scenario,
        cell.transport,
        cell.revision,
        Verdict.SKIPPED if reason and reason.kind is ReasonKind.BROKE_OFF else check.verdict,
        check.observations,
        f"{RUN_FOLDER}{cell.trace}" if cell.trace else "",
        reason.text if reason else "",
    )


def _worst(
    seen: Sequence[Seen], reasons: Sequence[Reason | None], excuse: Unmeasured
) -> tuple[Verdict, Unmeasured | None]:
    """The first of these that applies; an excuse where nothing is measured."""
    found = {one.status for one in seen}
    if Verdict.FAILURE in found:
        return Verdict.FAILURE, None
    for place, reason in zip(seen, reasons, strict=True):
        if reason is not None and reason.kind is ReasonKind.BROKE_OFF:
            text = f"{reason.text} ({place.transport}, {place.protocol_version})"
            return Verdict.SKIPPED, Unmeasured(Measure.NOT_MEASURED, Reason(reason.kind, text))
    for verdict in (Verdict.WARNING, Verdict.SUCCESS):
        if verdict in found:
            return verdict, None
    if seen and not excuse.reason.options:
        return Verdict.SKIPPED, Unmeasured(Measure.NOT_MEASURED, reasons[0] or NOTHING)
    return Verdict.SKIPPED, excuse


def _broken(cell: CellResult, findings: Iterable[Finding]) -> Iterator[Broken]:
    for found in findings:
        yield Broken(
            cell.scenario,
            cell.transport,
            cell.revision,
            found.level,
            found.expected,
            found.observed,
            [f"{RUN_FOLDER}{cell.trace}#{number}" for number in found.frames],
            found.excerpt,
            found.reproduce if len(found.reproduce) <= LONGEST else "",
        )


def _by_evidence(demand: Demand, found: Evidence | None) -> Score:
    if demand.by is By.LATER or found is None:
        found = Evidence(Verdict.SKIPPED, LATER.text)
    unseen = None
    if found.status is Verdict.SKIPPED:
        kind = ReasonKind.NEEDS_OPTION if found.options else ReasonKind.NO_CHECK
        unseen = Unmeasured(Measure.NOT_MEASURED, Reason(kind, found.reason, found.options))
    made = _score(demand, found.status, unseen, [], [])
    return msgspec.structs.replace(made, reason=found.reason)


def _score(
    demand: Demand, status: Verdict, unseen: Unmeasured | None, seen: list[Seen], broken: list[Broken]
) -> Score:
    return Score(
        id=demand.id,
        name=demand.id,
        title=demand.title,
        group=demand.group,
        category=demand.category,
        status=status,
        pass_=None if unseen else status is not Verdict.FAILURE,
        scored=demand.scored,
        measure=unseen.measure if unseen else Measure.MEASURED,
        **stored(unseen.reason if unseen else None),
        core=demand.core,
        results=seen,
        findings=broken,
    )


class Conclusion(StrEnum):
    MET = "met"
    """Every scored demand that was measured is met, and the core ones were measured."""
    NOT_MET = "not met"
    TOO_LITTLE = "too little measured"


def conclude(scores: Iterable[Score], judged: Iterable[str], profile: Profile) -> Conclusion:
    by_name = {one.id: one for one in scores}
    if any(one.scored and one.status is Verdict.FAILURE for one in by_name.values()):
        return Conclusion.NOT_MET
    there = set(judged)
    core = [one for one in profile.demands if one.core and there & set(one.transports)]
    proved = core and all(by_name[one.id].measure is Measure.MEASURED for one in core)
    return Conclusion.MET if proved else Conclusion.TOO_LITTLE
