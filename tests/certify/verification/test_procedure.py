"""Verification step by step: the notes, the trusted keys, and what only judging again detects."""

import json
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.certify import metrics
from assay.certify.bundle.capability_files import capability_files
from assay.certify.verification.procedure import STEPS, CannotRead, Status, VerificationReport, verify
from assay.certify.verification.refusal import RefusalReason
from assay.lab.harness.run.run import parse_run
from assay.lab.harness.trace.file import dump_trace, read_trace
from assay.lab.harness.trace.frame import Frame, Sender
from assay.lab.harness.trace.trace import Trace
from assay.signing.dsse import Reason as Unsigned
from assay.signing.dsse import Role, Trust
from tests.certify import bundles
from tests.certify.bundles import CREATED, DEVELOPER, HARNESS, NOW, STRANGER, TRUST, finish_again

RESULTS = json.dumps(bundles.RESULTS).encode()
DEVELOPER_ONLY = Trust([(DEVELOPER.public, Role.DEVELOPER)])


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundles.make(tmp_path_factory.mktemp("good") / "evidence")


@pytest.fixture
def bundle(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good, tmp_path / "evidence"))


def noted(report: VerificationReport) -> dict[str, str]:
    return {step.name: step.note for step in report.steps}


def reasons(report: VerificationReport) -> list[str]:
    return sorted({refusal.reason for refusal in report.refusals})


def test_a_valid_bundle_passes_every_step(good: Path) -> None:
    report = verify(good, TRUST, now=NOW, rejudge=True)
    assert report.refusals == ()
    again = ["rejudge", "figures", "lists", "report"]
    assert [step.name for step in report.steps] == [*(name for name, _, _ in STEPS), *again]
    assert {step.status for step in report.steps} == {Status.GOOD}
    assert (report.conclusion, report.self_attested) == ("incomplete", False)
    assert noted(report)["rejudge"] == "4 traces have intact chains and the stored verdicts"


@pytest.mark.parametrize(
    ("now", "max_age", "expected"),
    [
        (CREATED, None, []),
        (CREATED - timedelta(minutes=5), None, []),
        (CREATED - timedelta(minutes=6), None, ["from-the-future"]),
        (CREATED + bundles.LIFETIME - timedelta(seconds=1), None, []),
        (CREATED + bundles.LIFETIME, None, ["expired"]),
        (CREATED + timedelta(hours=1), timedelta(hours=1), []),
        (CREATED + timedelta(hours=1, seconds=1), timedelta(hours=1), ["too-old"]),
    ],
)
def test_a_bundle_is_valid_from_creation_to_expiry(
    good: Path, now: Any, max_age: timedelta | None, expected: list[str]
) -> None:
    assert reasons(verify(good, TRUST, now=now, max_age=max_age)) == expected


def test_without_a_valid_signature_nothing_else_is_read(bundle: Path) -> None:
    (bundle / "run" / "run.json").unlink()
    report = verify(bundle, Trust([(STRANGER.public, Role.DEVELOPER)]), now=NOW)
    assert reasons(report) == ["unknown-key"]
    assert report.manifest is None
    assert {step.status for step in report.steps[1:]} == {Status.NOT_REACHED}


def test_without_trusted_keys_no_bundle_is_accepted(good: Path) -> None:
    assert reasons(verify(good, Trust(), now=NOW)) == ["no-pinned-key"]


def test_every_changed_file_is_named_and_none_is_parsed(bundle: Path) -> None:
    (bundle / "badge.json").write_bytes(b"{")
    (bundle / "summary.json").unlink()
    report = verify(bundle, TRUST, now=NOW)
    refusals = {(refusal.reason, refusal.where) for refusal in report.refusals}
    assert refusals == {("changed-file", "badge.json"), ("missing-file", "summary.json")}
    assert next(step.name for step in report.steps if step.status is Status.NOT_REACHED) == "profile"


def test_a_bundle_must_be_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("file", "nothing"):
        with pytest.raises(CannotRead):
            verify(tmp_path / name, TRUST, now=NOW)
    assert reasons(verify(tmp_path, TRUST, now=NOW)) == ["missing-file"], "a directory without a manifest"


def test_a_bundle_without_an_artifact(tmp_path: Path) -> None:
    report = verify(bundles.make(tmp_path / "b", artifact=None), TRUST, now=NOW, artifact=tmp_path / "no")
    assert reasons(report) == ["no-artifact", "wrong-summary"]
    with pytest.raises(CannotRead, match="No such file"):
        verify(bundles.make(tmp_path / "c"), TRUST, now=NOW, artifact=tmp_path / "no")


def with_metrics(bundle: Path, data: bytes) -> None:
    (bundle / "metrics.json").write_bytes(data)
    finish_again(bundle)


def test_without_a_trusted_harness_metrics_are_self_reported(good: Path) -> None:
    report = verify(good, DEVELOPER_ONLY, now=NOW)
    assert report.ok
    assert report.self_attested
    assert noted(report)["metrics"] == "self-reported: not signed by a trusted harness (unknown-key)"


def test_metrics_that_are_not_signed_are_self_reported(bundle: Path) -> None:
    with_metrics(bundle, RESULTS)
    for trust in (DEVELOPER_ONLY, TRUST):
        report = verify(bundle, trust, now=NOW)
        assert report.ok and report.self_attested
        assert "self-reported" in noted(report)["metrics"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (metrics.sign(RESULTS, STRANGER), "unknown-key"),
        (metrics.sign(RESULTS, DEVELOPER), "wrong-role"),
        (metrics.sign(RESULTS, HARNESS).replace(b"metrics+json", b"metrics+jsom"), "wrong-type"),
    ],
)
def test_metrics_that_falsely_claim_a_harness_are_refused(bundle: Path, data: bytes, reason: str) -> None:
    with_metrics(bundle, data)
    assert reasons(verify(bundle, TRUST, now=NOW)) == [reason]


def test_metrics_modified_after_signing_are_refused(bundle: Path) -> None:
    envelope = json.loads(metrics.sign(RESULTS, HARNESS))
    envelope["payload"] = json.loads(metrics.sign(RESULTS.replace(b"12.5", b"2.5"), STRANGER))["payload"]
    with_metrics(bundle, json.dumps(envelope, sort_keys=True, separators=(",", ":")).encode())
    assert reasons(verify(bundle, TRUST, now=NOW)) == ["bad-signature"]


def test_one_key_for_both_roles_is_self_attested(bundle: Path) -> None:
    with_metrics(bundle, metrics.sign(RESULTS, DEVELOPER))
    both = Trust([(DEVELOPER.public, Role.DEVELOPER), (DEVELOPER.public, Role.HARNESS)])
    report = verify(bundle, both, now=NOW)
    assert report.ok
    assert report.self_attested


Change = Callable[[Frame], Frame]


def banner(frame: Frame) -> Frame:
    raw = b"hello\n" if frame.sender is Sender.SUBJECT and frame.n == 4 else frame.raw
    return msgspec.structs.replace(frame, raw=raw)


def retold(trace: Trace, change: Change) -> bytes:
    """A changed trace with a valid chain: the author of a trace can produce one."""
    return dump_trace(Trace(trace.header, [change(frame) for frame in trace.frames]))


def a_trace(bundle: Path) -> Path:
    return min((bundle / "run" / "traces").glob("tpt-stdio-framing*"))


def test_a_forged_trace_has_other_verdicts(bundle: Path) -> None:
    path = a_trace(bundle)
    path.write_bytes(retold(read_trace(path), banner))
    finish_again(bundle)
    assert verify(bundle, TRUST, now=NOW).ok, "hashes and signatures alone do not show it"
    report = verify(bundle, TRUST, now=NOW, rejudge=True)
    assert reasons(report) == ["other-verdict"]
    assert report.refusals[0].where == f"run/traces/{path.name}"
    assert "CONF-TPT-01.stdio.framing: SUCCESS (10) in the run, FAILURE" in report.refusals[0].detail


def test_a_trace_that_was_edited_has_a_broken_chain(bundle: Path) -> None:
    path = a_trace(bundle)
    path.write_bytes(path.read_bytes().replace(b"no/such/method", b"no/such/thing!", 1))
    finish_again(bundle)
    assert verify(bundle, TRUST, now=NOW).ok
    report = verify(bundle, TRUST, now=NOW, rejudge=True)
    assert reasons(report) == ["broken-trace"]


def lied(bundle: Path, change: Callable[[dict[str, Any]], object]) -> VerificationReport:
    """Edit the run; rebuild and sign summary, badges and statements."""
    bundles.edit(bundle / "run" / "run.json", change)
    finish_again(bundle)
    assert verify(bundle, TRUST, now=NOW).ok
    return verify(bundle, TRUST, now=NOW, rejudge=True)


def worse(run: dict[str, Any]) -> None:
    run["cells"][0]["checks"][0]["verdict"] = "WARNING"


def better(run: dict[str, Any]) -> None:
    check = run["cells"][0]["checks"][0]
    run["cells"][0]["checks"].append({**check, "id": "CONF-SEC-04.expired"})


def exchanged(run: dict[str, Any]) -> None:
    first, second = run["cells"][0], run["cells"][1]
    first["trace"], second["trace"] = second["trace"], first["trace"]


def emptied(run: dict[str, Any]) -> None:
    run["cells"][0].update(checks=[], outcome="incomplete")


def promoted(run: dict[str, Any]) -> None:
    run["cells"][0].update(outcome="passed with warnings")


@pytest.mark.parametrize("change", [worse, better, exchanged, emptied, promoted])
def test_a_run_that_contradicts_its_traces(bundle: Path, change: Callable[[dict[str, Any]], None]) -> None:
    assert reasons(lied(bundle, change)) == ["other-verdict"]


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_a_report_that_differs_from_the_summary(bundle: Path, name: str) -> None:
    with (bundle / name).open("ab") as file:
        file.write(b"all is well")
    bundles.sign_again(bundle)
    assert verify(bundle, TRUST, now=NOW).ok
    report = verify(bundle, TRUST, now=NOW, rejudge=True)
    assert [(refusal.reason, refusal.where) for refusal in report.refusals] == [("wrong-report", name)]


def test_a_capability_manifest_that_the_server_did_not_publish(bundle: Path) -> None:
    stored = parse_run((bundle / "run" / "run.json").read_bytes(), "run.json")
    manifests = capability_files(stored, lambda name: (bundle / name).read_bytes())
    name = "registry/mcp-tools.json"
    (bundle / "registry").mkdir()
    (bundle / name).write_bytes(manifests[name])
    finish_again(bundle)
    assert verify(bundle, TRUST, now=NOW, rejudge=True).ok
    (bundle / name).write_bytes(b"[]")
    finish_again(bundle)
    report = verify(bundle, TRUST, now=NOW, rejudge=True)
    assert [(refusal.reason, refusal.where) for refusal in report.refusals] == [("wrong-list", name)]


def test_a_demand_wrongly_called_not_applicable(bundle: Path) -> None:
    def excuse(summary: dict[str, Any]) -> None:
        score = next(entry for entry in summary["checks"] if entry["measure"] == "not measured")
        score.update(measure="not applicable", reason="no tools")
        summary["summary"]["notMeasured"] -= 1
        summary["summary"]["skipped"] += 1

    bundles.edit(bundle / "summary.json", excuse)
    bundles.attest_again(bundle)
    report = verify(bundle, TRUST, now=NOW, rejudge=True)
    assert reasons(report) == ["other-verdict"]
    assert "is called not applicable (no tools)" in report.refusals[0].detail


def test_an_invalid_summary_is_refused_in_each_step_that_reads_it(bundle: Path) -> None:
    (bundle / "summary.json").write_text('{"checks":[]}')
    bundles.sign_again(bundle)
    report = verify(bundle, TRUST, now=NOW, rejudge=True)
    refused = [step.name for step in report.steps if step.status is Status.REFUSED]
    assert refused == ["attestations", "summary", "badge", "metrics", "scope", "rejudge", "report"]


@pytest.mark.parametrize("name", ["run/run.json", "summary.json", "metrics.json", "sbom.cdx.json"])
def test_a_deeply_nested_document_is_refused(bundle: Path, name: str) -> None:
    (bundle / name).write_bytes(b'{"checks":' + b"[" * 100_000)
    bundles.sign_again(bundle)
    assert "bad-evidence" in reasons(verify(bundle, TRUST, now=NOW, rejudge=True))


def test_a_run_of_an_unknown_suite(bundle: Path) -> None:
    assert reasons(lied(bundle, lambda run: run.update(suite="easy"))) == ["bad-evidence"]


def test_every_reason_is_explained() -> None:
    page = (Path(__file__).parents[3] / "docs" / "bundle.md").read_text("utf-8")
    assert [reason for reason in (*RefusalReason, *Unsigned) if f"`{reason}`" not in page] == []
