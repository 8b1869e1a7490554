"""Scores: the worst result counts, and a demand without results never passes."""

import msgspec
import pytest

from assay.certify.conclusion import Conclusion, conclude
from assay.certify.missing_observation import REASONS
from assay.certify.scoring import Evidence, Measure, Score, Unmeasured, find_unmeasured, score
from assay.lab.harness.check import UNOBSERVED
from assay.lab.harness.need import A_TOOL, AN_OBSERVED_DISK
from assay.lab.harness.reason import Reason, ReasonKind
from assay.lab.harness.run.ending import INTERRUPTED
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
def test_the_worst_result_counts(verdicts: tuple[Verdict, ...], status: Verdict, passed: bool | None) -> None:
    judged = scored(run(*(cell(checked(IDS, verdict)) for verdict in verdicts)))

    assert (judged.status, judged.pass_) == (status, passed)
    assert judged.measure is (Measure.NOT_MEASURED if passed is None else Measure.MEASURED)


def test_every_result_is_kept() -> None:
    judged = scored(run(cell(checked(IDS, SUCCESS)), cell(checked(IDS, FAILURE), transport="http")))
    assert [(entry.transport, entry.status) for entry in judged.results] == [
        ("stdio", SUCCESS),
        ("http", FAILURE),
    ]


def test_findings_name_their_frames_in_the_bundle() -> None:
    (broken,) = scored(run(cell(checked(IDS, FAILURE)))).findings
    assert broken.frames == ["run/traces/jrpc.ids.ndjson#3"]


def test_success_in_a_scenario_that_broke_off_is_not_measured() -> None:
    judged = scored(
        run(cell(checked(IDS, SUCCESS)), cell(checked(IDS, SUCCESS), broke_off=True, reason=GONE))
    )
    assert (judged.measure, judged.pass_) == (Measure.NOT_MEASURED, None)
    assert "broke off: gone" in judged.reason


def test_a_failure_in_a_scenario_that_broke_off_counts() -> None:
    assert scored(run(cell(checked(IDS, FAILURE), broke_off=True))).status is FAILURE


def test_an_interrupted_run_proves_nothing() -> None:
    judged = scored(run(cell(checked(IDS, SUCCESS)), interrupted=True))
    assert judged.measure is Measure.NOT_MEASURED


def test_a_transport_that_was_not_judged_names_the_option() -> None:
    judged = scored(run(cell(checked(IDS, SUCCESS)), transports=("http",)), FRAMING)
    assert judged.reason == "the server was not judged on stdio; add --stdio LINE"


def test_results_on_other_transports_do_not_count() -> None:
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
def test_a_missing_option_is_not_a_missing_feature(reason: Reason, measure: Measure) -> None:
    suite = suite_named("marketplace")
    judged = run(cell(scenario="jrpc.ids", reason=reason))
    unmeasured = find_unmeasured(judged, suite)
    assert unmeasured[IDS] == Unmeasured(measure, reason)
    assert scored(judged, IDS, unmeasured).measure is measure


def test_a_demand_of_other_revisions_is_not_applicable() -> None:
    unmeasured = find_unmeasured(run(), suite_named("marketplace"))
    assert unmeasured["CONF-TPT-01.http.resume"].measure is Measure.NOT_APPLICABLE


def test_a_demand_whose_scenario_was_not_selected_is_not_measured() -> None:
    judged = msgspec.structs.replace(
        run(), subjects=[SubjectRecord("it", "http", [Facts(HANDSHAKE[-1].date)])]
    )
    unmeasured = find_unmeasured(judged, suite_named("marketplace"))["CONF-TPT-01.http.resume"]
    assert (unmeasured.measure, unmeasured.reason.options) == (Measure.NOT_MEASURED, ("--scenario",))


def test_an_unobserved_demand_has_the_reason_of_its_check() -> None:
    judged = run(cell(checked(IDS, SKIPPED, Reason(ReasonKind.NOT_OBSERVED, "nothing was answered"))))
    unmeasured = find_unmeasured(judged, suite_named("marketplace"))
    assert scored(judged, IDS, unmeasured).reason == "nothing was answered"


def test_other_evidence_decides_demands_without_traces() -> None:
    name = "CONF-EVD-06.sbom"
    scores = score(run(), PROFILE, {name: Evidence(FAILURE, "it lacks a package")}, {})
    judged = next(entry for entry in scores if entry.id == name)
    assert (judged.status, judged.reason) == (FAILURE, "it lacks a package")


def test_unsupported_demands_are_never_measured() -> None:
    scores = score(run(), PROFILE, {"BENCH-SSE-01": Evidence(SUCCESS)}, {})
    judged = next(entry for entry in scores if entry.id == "BENCH-SSE-01")
    assert (judged.status, judged.measure) == (SKIPPED, Measure.NOT_MEASURED)


def test_the_profile_is_met_if_all_measured_demands_are() -> None:
    scores = score(healthy(), PROFILE, {}, {})
    assert conclude(scores, healthy(), PROFILE) is Conclusion.MET


def test_one_scored_failure_is_enough() -> None:
    scores = score(healthy(), PROFILE, {"CONF-EVD-06.sbom": Evidence(FAILURE)}, {})
    assert conclude(scores, healthy(), PROFILE) is Conclusion.NOT_MET


def test_an_unscored_failure_does_not_count() -> None:
    scores = score(healthy(), PROFILE, {}, {})
    unscored = next(entry for entry in scores if not entry.scored and entry.measure is Measure.MEASURED)
    broken = msgspec.structs.replace(unscored, status=FAILURE)
    others = [entry for entry in scores if entry is not unscored]
    assert conclude([*others, broken], healthy(), PROFILE) is Conclusion.MET


@pytest.mark.parametrize("judged", [("stdio", "http"), ()])
def test_without_the_core_too_little_is_measured(judged: tuple[str, ...]) -> None:
    scores = score(healthy(), PROFILE, {}, {})
    assert conclude(scores, run(transports=judged), PROFILE) is Conclusion.TOO_LITTLE


def test_a_very_long_reproduction_is_left_out() -> None:
    short, long = checked(IDS, Verdict.FAILURE), checked(IDS, Verdict.FAILURE)
    short.findings[0] = msgspec.structs.replace(short.findings[0], reproduce="printf x")
    long.findings[0] = msgspec.structs.replace(long.findings[0], reproduce="x" * 20_000)
    judged = score(run(cell(short), cell(long, scenario="jrpc.other")), PROFILE, {}, {})
    [broken] = [entry.findings for entry in judged if entry.id == IDS]
    assert [entry.reproduce for entry in broken] == ["printf x", ""]


def test_an_unobserved_demand_may_have_its_own_reason() -> None:
    disk = "CONF-CAP-03.tools.disk"
    nothing = cell(*(checked(name, Verdict.SKIPPED, UNOBSERVED) for name in (IDS, disk)))
    judged = {entry.id: entry for entry in score(run(nothing), PROFILE, {}, {})}
    assert (judged[IDS].measure, judged[IDS].typed_reason) == (Measure.NOT_MEASURED, UNOBSERVED)
    assert judged[disk].typed_reason == REASONS[disk]


def test_every_reason_belongs_to_a_demand() -> None:
    assert REASONS.keys() <= {entry.id for entry in PROFILE.demands}
