"""The overall result of a certification.

In a profile that is *complete*, nothing that was not shown counts: each category of demands within the scope
needs a result, and so does every core demand. A demand that was left out by choice, or whose scenario or
benchmark broke off, keeps it open too: else a server could end its process where its fault would show. A
server whose revisions cannot resume streams is excused from resuming, and only it: `StreamProof` says which
of the two a server has shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Final

from assay.lab.harness.reason import ReasonKind
from assay.lab.harness.run.run import Run
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Verdict
from assay.revisions.registry import REVISIONS

from .profile_list import Demand, Profile
from .scoring import OPTIONS, SCOPE, Measure, Score

HEARTBEAT: Final = "CONF-TPT-01.http.heartbeat"
RESUME: Final = "CONF-TPT-01.http.resume"
MOST_NAMED: Final = 5
"""Demands that a gap names, of those with the same reason."""
EVASIVE: Final = frozenset(
    {
        ReasonKind.BROKE_OFF,
        ReasonKind.NOT_SELECTED,
        ReasonKind.SUBJECT_FAILED,
        ReasonKind.DEADLINE,
        ReasonKind.INTERRUPTED,
    }
)
"""Reasons by which a demand would have had a result, had the server or its author let it come to one."""


class Conclusion(StrEnum):
    MET = "met"
    """All measured, scored demands are met, and all core demands were measured."""
    NOT_MET = "not met"
    TOO_LITTLE = "too little measured"
    INCOMPLETE = "incomplete"
    """By a complete profile: a category or a core demand was not measured, or a result was prevented."""


class StreamProof(StrEnum):
    """What a server has shown of its streams."""

    RESUMED = "heartbeat and resumption"
    HEARTBEAT = "heartbeat only: no judged revision resumes streams"


def conclude(
    scores: Sequence[Score], run: Run, profile: Profile, scope: Collection[str] = SCOPE
) -> Conclusion:
    if any(entry.scored and entry.status is Verdict.FAILURE for entry in scores):
        return Conclusion.NOT_MET
    if profile.complete:
        return Conclusion.INCOMPLETE if any(gaps(scores, run, profile, scope)) else Conclusion.MET
    judged = judged_transports(run)
    core = [demand for demand in profile.demands if demand.core and judged & set(demand.transports)]
    by_id = {entry.id: entry for entry in scores}
    proved = core and all(by_id[demand.id].measure is Measure.MEASURED for demand in core)
    return Conclusion.MET if proved else Conclusion.TOO_LITTLE


def judged_transports(run: Run) -> set[str]:
    return {record.transport for record in run.subjects if record.facts}


def identities(run: Run) -> list[str]:
    """The names and versions that the server reports, over all transports and revisions: one, if it is one
    server. A revision in which it may leave them out does not count."""
    reported = (facts.server for record in run.subjects for facts in record.facts)
    named = (f"{server.get('name')} {server.get('version')}" for server in reported if server.get("name"))
    return list(dict.fromkeys(named))


def gaps(
    scores: Sequence[Score], run: Run, profile: Profile, scope: Collection[str] = SCOPE
) -> Iterator[str]:
    """What keeps a complete profile from being met although nothing failed; empty for other profiles."""
    if not profile.complete:
        return
    judged = judged_transports(run)
    for transport in sorted(set(scope) - judged):
        option, value = OPTIONS[transport]
        yield f"not judged on {transport}: add {option} {value}, or narrow the scope with --scope"
    within = [demand for demand in profile.demands if demand.is_within(scope)]
    by_id = {entry.id: entry for entry in scores}
    yield from _unmeasured_categories(within, by_id.values())
    missing: dict[str, list[str]] = {}
    for demand in within:
        entry = by_id[demand.id]
        if entry.measure is Measure.MEASURED or not (demand.core or _is_evaded(demand, entry, judged)):
            continue
        if not _is_excused(demand, run):
            missing.setdefault(entry.reason, []).append(demand.id)
    for reason, names in missing.items():
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        verb = "were" if len(names) > 1 else "was"
        yield f"{', '.join(names[:MOST_NAMED])}{more} {verb} not measured: {reason}"


def _is_evaded(demand: Demand, entry: Score, judged: Collection[str]) -> bool:
    """Whether a result was prevented. A transport that was not judged is named once, not for each demand."""
    return demand.scored and demand.is_within(judged) and entry.reason_kind in EVASIVE


def _unmeasured_categories(within: Iterable[Demand], scores: Iterable[Score]) -> Iterator[str]:
    measured = {entry.category for entry in scores if entry.scored and entry.measure is Measure.MEASURED}
    expected = dict.fromkeys(demand.category for demand in within if demand.scored)
    return (f"nothing of the category {name} was measured" for name in expected if name not in measured)


def _is_excused(demand: Demand, run: Run) -> bool:
    """Whether the server has shown that it speaks no revision in which streams can be resumed."""
    if demand.id != RESUME:
        return False
    resuming = {revision.date for revision in REVISIONS if revision.http.sessions and revision.http.resumable}
    records = [record for record in run.subjects if record.transport == Transport.HTTP and record.facts]
    refused = [{refusal.revision for refusal in record.refused} for record in records]
    spoken = {facts.revision for record in records for facts in record.facts}
    # A revision that was not tried (`--spec-version`) may be one that the server speaks.
    return bool(records) and not resuming & spoken and all(resuming <= dates for dates in refused)


def stream_proof(scores: Iterable[Score]) -> StreamProof | None:
    """What the badge says about streams; None if they were not shown."""
    by_id = {entry.id: entry for entry in scores if entry.id in (HEARTBEAT, RESUME)}
    passed = {name for name, entry in by_id.items() if entry.measure is Measure.MEASURED and entry.pass_}
    if passed == {HEARTBEAT, RESUME}:
        return StreamProof.RESUMED
    is_excused = RESUME in by_id and by_id[RESUME].measure is Measure.NOT_APPLICABLE
    return StreamProof.HEARTBEAT if HEARTBEAT in passed and is_excused else None
