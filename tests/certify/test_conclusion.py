"""The conclusion of a complete profile: what was not shown is never met."""

from collections.abc import Iterable

import msgspec
import pytest

from assay.certify.conclusion import HEARTBEAT, RESUME, Conclusion, StreamProof, conclude, gaps, stream_proof
from assay.certify.derived_score import GUARDS, OPEN, PROTECTED, with_derived
from assay.certify.profile_list import INTELGRAPH, MeasuredBy, shipped
from assay.certify.scoring import (
    OTHER_REVISIONS,
    SCOPE,
    Evidence,
    Measure,
    Score,
    Unmeasured,
    score,
)
from assay.lab.harness.run.run import Run, SubjectRecord
from assay.lab.harness.subject.facts import Facts, UnsupportedRevision
from assay.lab.harness.verdict import Verdict
from assay.revisions.registry import REVISIONS
from tests.certify.runs import cell, checked, run

PROFILE = shipped(INTELGRAPH)
GOOD = Evidence(Verdict.SUCCESS, "shown")
NEWEST = REVISIONS[-1].date
RESUMING = [revision.date for revision in REVISIONS if revision.http.sessions and revision.http.resumable]


def traced(transport: str) -> list[str]:
    return [
        demand.id
        for demand in PROFILE.demands
        if demand.by is MeasuredBy.TRACES and transport in demand.transports
    ]


def perfect(without: Iterable[str] = (), transports: tuple[str, ...] = SCOPE) -> Run:
    """A run in which all demands are met, but for those that it does not show."""
    cells = [
        cell(*(checked(name, Verdict.SUCCESS) for name in traced(transport) if name not in without),
             transport=transport, scenario=f"all.{transport}")
        for transport in transports
    ]  # fmt: skip
    return run(*cells, transports=transports)


def scores(judged: Run, without: Iterable[str] = (), scope: tuple[str, ...] = SCOPE) -> list[Score]:
    known = {
        demand.id: GOOD
        for demand in PROFILE.demands
        if demand.by in (MeasuredBy.EVIDENCE, MeasuredBy.MEASUREMENT) and demand.id not in without
    }
    return with_derived(score(judged, PROFILE, known, {}, scope), judged, PROFILE)


def concluded(judged: Run, without: Iterable[str] = (), scope: tuple[str, ...] = SCOPE) -> Conclusion:
    return conclude(scores(judged, without, scope), judged, PROFILE, scope)


def test_a_server_that_shows_everything_meets_the_profile() -> None:
    assert concluded(perfect()) is Conclusion.MET


@pytest.mark.parametrize("name", [HEARTBEAT, RESUME, "CONF-JRPC-03.batch-by-revision"])
def test_a_core_demand_that_was_not_measured_leaves_it_incomplete(name: str) -> None:
    judged = perfect(without=[name])
    assert concluded(judged) is Conclusion.INCOMPLETE
    assert any(name in gap for gap in gaps(scores(judged), judged, PROFILE))


@pytest.mark.parametrize("category", ["isolation", "performance", "observability"])
def test_a_category_that_was_not_measured_leaves_it_incomplete(category: str) -> None:
    names = [demand.id for demand in PROFILE.demands if demand.category == category]
    judged = perfect(without=names)
    assert concluded(judged, without=names) is Conclusion.INCOMPLETE
    assert f"nothing of the category {category} was measured" in gaps(scores(judged, names), judged, PROFILE)


def test_a_transport_that_was_not_judged_leaves_it_incomplete_unless_the_scope_leaves_it_out() -> None:
    judged = perfect(transports=("stdio",))
    assert concluded(judged) is Conclusion.INCOMPLETE
    assert concluded(judged, scope=("stdio",)) is Conclusion.MET
    outside = [entry for entry in scores(judged, scope=("stdio",)) if entry.id == HEARTBEAT]
    assert [entry.measure for entry in outside] == [Measure.NOT_APPLICABLE]


def test_a_failure_is_worse_than_a_gap() -> None:
    judged = run(cell(checked(HEARTBEAT, Verdict.FAILURE), transport="http"), transports=("http",))
    assert concluded(judged) is Conclusion.NOT_MET


@pytest.mark.parametrize(
    ("facts", "without", "status"),
    [
        (Facts(NEWEST, protected=True, bearers=["usual"]), [], Verdict.SUCCESS),
        (Facts(NEWEST, certificates=["usual"]), ["CONF-SEC-04.no-token"], Verdict.SUCCESS),
        (Facts(NEWEST), GUARDS, Verdict.FAILURE),
        (Facts(NEWEST, bearers=["usual"]), GUARDS, Verdict.FAILURE),
        (Facts(NEWEST, protected=True), GUARDS, Verdict.SKIPPED),
    ],
)  # fmt: skip
def test_a_server_must_ask_for_a_token_or_a_certificate(
    facts: Facts, without: Iterable[str], status: Verdict
) -> None:
    judged = perfect(without=without)
    subjects = [SubjectRecord("it", transport, [facts]) for transport in SCOPE]
    judged = msgspec.structs.replace(judged, subjects=subjects)
    [entry] = [entry for entry in scores(judged) if entry.id == PROTECTED]
    assert entry.status is status
    assert status is not Verdict.FAILURE or entry.reason == OPEN


def newest_only(refused: Iterable[str]) -> Run:
    """A run at the newest revision, where other revisions were tried and refused."""
    records = [
        SubjectRecord("it", transport, [Facts(NEWEST)], [UnsupportedRevision(date, "no") for date in refused])
        for transport in SCOPE
    ]
    return msgspec.structs.replace(perfect(without=[RESUME]), subjects=records)


def test_resumption_is_excused_only_if_every_revision_with_it_was_tried_and_refused() -> None:
    assert concluded(newest_only(RESUMING)) is Conclusion.MET
    assert concluded(newest_only(RESUMING[1:])) is Conclusion.INCOMPLETE
    assert concluded(newest_only([])) is Conclusion.INCOMPLETE


@pytest.mark.parametrize(
    ("without", "excused", "proof"),
    [
        ([], False, StreamProof.RESUMED),
        ([RESUME], True, StreamProof.HEARTBEAT),
        ([RESUME], False, None),
        ([HEARTBEAT], False, None),
    ],
)
def test_the_badge_says_what_streams_have_shown(
    without: list[str], excused: bool, proof: StreamProof | None
) -> None:
    reasons = {RESUME: Unmeasured(Measure.NOT_APPLICABLE, OTHER_REVISIONS)} if excused else {}
    assert stream_proof(score(perfect(without), PROFILE, {}, reasons)) == proof
