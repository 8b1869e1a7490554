"""Scores: the worst counts, and nothing seen is never a pass."""

import msgspec
import pytest

from assay.certify.missing_observation import REASONS
from assay.certify.scoring import (
    Conclusion,
    Evidence,
    Measure,
    Score,
    Unmeasured,
    conclude,
    find_unmeasured,
    score,
)
from assay.lab.harness.check import UNOBSERVED
from assay.lab.harness.need import A_TOOL, AN_OBSERVED_DISK
from assay.lab.harness.reason import Reason, ReasonKind
from assay.lab.harness.run.recording import INTERRUPTED
from assay.lab.harness.run.run import Run, SubjectRecord
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.verdict import Verdict
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE
from tests.certify.runs import FRAMING, IDS, PROFILE, cell, checked, healthy, run

GONE = Reason(ReasonKind.BROKE_OFF, "gone")
SUCCESS, FAILURE, WARNING, SKIPPED = Verdict.SUCCESS, Verdict.FAILURE, Verdict.WARNING, Verdict.SKIPPED


def scored(judged: Run, name: str = IDS, unmeasured: dict[str, Unmeasured] | None = None) -> Score:
    return next(entry for entry in score(judged, PROFILE, {}, unmeasured or {}) if entry.id == name)


@pytest.mark.parametrize(
    ("verdicts", "status", "passed"),
    [
        ((SUCCESS, SUCCESS), SUCCESS, True),
        ((SUCCESS, FAILURE), FAILURE, False),
        ((WARNING, SUCCESS), WARNING, True),
        ((WARNING, FAILURE), FAILURE, False),
        ((SKIPPED, SUCCESS), SUCCESS, True),
        ((SKIPPED, SKIPPED), SKIPPED, None),
        ((), SKIPPED, None),
    ],
)
def test_the_worst_over_all_cells_counts(
    verdicts: tuple[Verdict, ...], status: Verdict, passed: bool | None
) -> None:
    judged = scored(run(*(cell(checked(IDS, verdict)) for verdict in verdicts)))

    assert (judged.status, judged.pass_) == (status, passed)
    assert judged.measure is (Measure.NOT_MEASURED if passed is None else Measure.MEASURED)


def test_every_place_is_kept() -> None:
    judged = scored(run(cell(checked(IDS, SUCCESS)), cell(checked(IDS, FAILURE), transport="http")))
    assert [(entry.transport, entry.status) for entry in judged.results] == [
        ("stdio", SUCCESS),
        ("http", FAILURE),
    ]


def test_findings_name_their_frames_in_the_bundle() -> None:
    (broken,) = scored(run(cell(checked(IDS, FAILURE)))).findings
    assert broken.frames == ["run/traces/jrpc.ids.ndjson#3"]


def test_what_broke_off_is_not_measured_however_well_it_began() -> None:
    judged = scored(
        run(cell(checked(IDS, SUCCESS)), cell(checked(IDS, SUCCESS), broke_off=True, reason=GONE))
    )
    assert (judged.measure, judged.pass_) == (Measure.NOT_MEASURED, None)
    assert "broke off: gone" in judged.reason


def test_what_is_broken_stays_so_where_the_scenario_broke_off() -> None:
    assert scored(run(cell(checked(IDS, FAILURE), broke_off=True))).status is FAILURE


def test_an_interrupted_run_proves_nothing() -> None:
    judged = scored(run(cell(checked(IDS, SUCCESS)), interrupted=True))
    assert judged.measure is Measure.NOT_MEASURED


def test_a_transport_that_was_not_judged_names_the_option() -> None:
    judged = scored(run(cell(checked(IDS, SUCCESS)), transports=("http",)), FRAMING)
    assert judged.reason == "the server was not judged on stdio; add --stdio LINE"


def test_what_is_seen_elsewhere_does_not_count_for_a_demand_of_another_transport() -> None:
    judged = scored(run(cell(checked(FRAMING, SUCCESS), transport="http")), FRAMING)
    assert judged.measure is Measure.NOT_MEASURED


@pytest.mark.parametrize(
    ("reason", "measure"),
    [
        (AN_OBSERVED_DISK.reason, Measure.NOT_MEASURED),
        (A_TOOL.reason, Measure.NOT_APPLICABLE),
        (INTERRUPTED, Measure.NOT_MEASURED),
    ],
)
def test_an_option_that_is_missing_is_not_the_servers_lack(reason: Reason, measure: Measure) -> None:
    suite = suite_named("marketplace")
    judged = run(cell(scenario="jrpc.ids", reason=reason))
    unmeasured = find_unmeasured(judged, suite)
    assert unmeasured[IDS] == Unmeasured(measure, reason)
    assert scored(judged, IDS, unmeasured).measure is measure


def test_a_demand_that_no_judged_revision_has_does_not_apply() -> None:
    unmeasured = find_unmeasured(run(), suite_named("marketplace"))
    assert unmeasured["CONF-TPT-01.http.resume"].measure is Measure.NOT_APPLICABLE


def test_a_demand_whose_scenario_was_left_out_is_not_excused() -> None:
    judged = msgspec.structs.replace(
        run(), subjects=[SubjectRecord("it", "http", [Facts(HANDSHAKE[-1].date)])]
    )
    unmeasured = find_unmeasured(judged, suite_named("marketplace"))["CONF-TPT-01.http.resume"]
    assert (unmeasured.measure, unmeasured.reason.options) == (Measure.NOT_MEASURED, ("--scenario",))


def test_a_demand_of_which_nothing_was_seen_says_what_its_check_says() -> None:
    judged = run(cell(checked(IDS, SKIPPED, Reason(ReasonKind.NOT_OBSERVED, "nothing was answered"))))
    unmeasured = find_unmeasured(judged, suite_named("marketplace"))
    assert scored(judged, IDS, unmeasured).reason == "nothing was answered"


def test_evidence_decides_where_no_trace_does() -> None:
    name = "CONF-EVD-06.sbom"
    scores = score(run(), PROFILE, {name: Evidence(FAILURE, "it lacks a package")}, {})
    judged = next(entry for entry in scores if entry.id == name)
    assert (judged.status, judged.reason) == (FAILURE, "it lacks a package")


def test_what_comes_later_is_never_measured_whatever_is_said() -> None:
    scores = score(run(), PROFILE, {"BENCH-SSE-01": Evidence(SUCCESS)}, {})
    judged = next(entry for entry in scores if entry.id == "BENCH-SSE-01")
    assert (judged.status, judged.measure) == (SKIPPED, Measure.NOT_MEASURED)


def test_all_that_is_scored_and_measured_is_met() -> None:
    scores = score(healthy(), PROFILE, {}, {})
    assert conclude(scores, ["stdio"], PROFILE) is Conclusion.MET


def test_one_scored_failure_is_enough() -> None:
    scores = score(healthy(), PROFILE, {"CONF-EVD-06.sbom": Evidence(FAILURE)}, {})
    assert conclude(scores, ["stdio"], PROFILE) is Conclusion.NOT_MET


def test_a_failure_that_is_not_scored_does_not_decide() -> None:
    scores = score(healthy(), PROFILE, {}, {})
    unscored = next(entry for entry in scores if not entry.scored and entry.measure is Measure.MEASURED)
    broken = msgspec.structs.replace(unscored, status=FAILURE)
    others = [entry for entry in scores if entry is not unscored]
    assert conclude([*others, broken], ["stdio"], PROFILE) is Conclusion.MET


@pytest.mark.parametrize("judged", [["stdio", "http"], []])
def test_without_the_core_too_little_is_measured(judged: list[str]) -> None:
    scores = score(healthy(), PROFILE, {}, {})
    assert conclude(scores, judged, PROFILE) is Conclusion.TOO_LITTLE


def test_a_line_of_megabytes_that_repeats_a_finding_stays_in_the_trace() -> None:
    short, long = checked(IDS, Verdict.FAILURE), checked(IDS, Verdict.FAILURE)
    short.findings[0] = msgspec.structs.replace(short.findings[0], reproduce="printf x")
    long.findings[0] = msgspec.structs.replace(long.findings[0], reproduce="x" * 20_000)
    judged = score(run(cell(short), cell(long, scenario="jrpc.other")), PROFILE, {}, {})
    [broken] = [entry.findings for entry in judged if entry.id == IDS]
    assert [entry.reproduce for entry in broken] == ["printf x", ""]


def test_a_scenario_that_shows_nothing_of_a_demand_says_what_was_missing() -> None:
    disk = "CONF-CAP-03.tools.disk"
    nothing = cell(*(checked(name, Verdict.SKIPPED, UNOBSERVED) for name in (IDS, disk)))
    judged = {entry.id: entry for entry in score(run(nothing), PROFILE, {}, {})}
    assert (judged[IDS].measure, judged[IDS].typed_reason) == (Measure.NOT_MEASURED, UNOBSERVED)
    assert judged[disk].typed_reason == REASONS[disk]


def test_every_reason_is_of_a_demand() -> None:
    assert REASONS.keys() <= {entry.id for entry in PROFILE.demands}
