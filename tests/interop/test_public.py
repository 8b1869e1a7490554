"""Public servers and clients: the pages match the stored traces, and everything is pinned."""

import json
from pathlib import Path

import msgspec
import pytest

from assay.cli.main import main
from assay.lab.harness.run.run import Run
from assay.lab.harness.verdict import Outcome, Verdict
from interop.public.__main__ import differences
from interop.public.collection import CLIENTS, SERVERS, Collection
from interop.public.page import page
from interop.public.reason import Reason, Reasons
from interop.public.record import (
    JudgedPackage,
    Record,
    RecordedFinding,
    deduplicated,
    places_of,
    smallest_cover,
)
from interop.public.table import PublicServer, public_servers
from tests.lab.runs import cell, run_of
from tests.meta.test_pins import lock_breaches, pin_breaches
from tests.meta.tree import ROOT, expect_none

LARGEST = 2 * 1024 * 1024
BOTH = (SERVERS, CLIENTS)
STORED = [(collection, known) for collection in BOTH for known in collection.read_record().judged]
each_collection = pytest.mark.parametrize("collection", BOTH, ids=("servers", "clients"))


def finding(
    check: str = "tools.unknown-name", requirement: str = "TL-19", trace: str = "a.ndjson"
) -> RecordedFinding:
    link = "https://modelcontextprotocol.io/specification"
    return RecordedFinding(
        check,
        "FAILURE",
        requirement,
        "MUST",
        "A rule",
        link,
        "this",
        "<that> | ```",
        ["→ #0 x"],
        ["1"],
        trace,
    )


def judged(*findings: RecordedFinding, server: str = "memory") -> JudgedPackage:
    return JudgedPackage(server, "1", "stdio", ["1"], {"passed": 1}, list(findings))


def reason(*servers: str, requirement: str = "TL-19") -> Reasons:
    return Reasons([Reason("tools.unknown-name", requirement, list(servers), "It is so.")])


@pytest.mark.parametrize(("collection", "known"), STORED, ids=[known.name for _, known in STORED])
def test_stored_traces_show_the_findings_again(collection: Collection, known: JudgedPackage) -> None:
    assert collection.rejudge(known).findings == known.findings


@each_collection
def test_everything_in_the_table_was_judged_at_its_pinned_version(collection: Collection) -> None:
    judged = collection.read_record().judged
    assert [(result.name, result.version, result.transport) for result in judged] == [
        (name, package.version(), package.transport) for name, package in collection.packages().items()
    ]
    assert all(result.speaks for result in judged)


@each_collection
def test_every_finding_is_explained_and_every_explanation_is_of_a_finding(collection: Collection) -> None:
    expect_none(collection.breaches())


@each_collection
def test_the_page_says_what_the_record_says(collection: Collection) -> None:
    assert collection.page.read_text("utf-8") == collection.text(collection.read_record())


@each_collection
def test_every_stored_trace_is_small_and_needed(collection: Collection) -> None:
    traces = collection.kind.traces
    stored = {path.relative_to(traces) for path in traces.rglob("*.ndjson")}
    judged = collection.read_record().judged
    assert stored == {Path(result.name, finding.trace) for result in judged for finding in result.findings}
    assert all((traces / path).stat().st_size <= LARGEST for path in stored)


@each_collection
def test_no_stored_trace_contains_a_path_of_a_machine(collection: Collection) -> None:
    for path in collection.kind.traces.rglob("*.ndjson"):
        text = path.read_text("utf-8")
        assert str(ROOT) not in text and f"{Path.home()}/" not in text, path


@each_collection
def test_assay_judge_reports_a_stored_finding(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    known = next(
        result
        for result in collection.read_record().judged
        if any(finding.verdict == "FAILURE" for finding in result.findings)
    )
    finding = next(finding for finding in known.findings if finding.verdict == "FAILURE")
    assert main(["judge", str(collection.kind.traces / known.name / finding.trace)]) == 1
    assert f"{finding.requirement} ({finding.level})" in capsys.readouterr().out


def test_the_exit_of_a_client_follows_from_its_fault_also_when_a_trace_is_judged_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    trace = CLIENTS.kind.traces / "mcporter" / "jsonrpc-dialects-http-2025-11-25.ndjson"
    assert main(["judge", str(trace)]) == 1
    printed = capsys.readouterr().out
    assert "FAILURE jsonrpc.dialects" in printed and "follows   contract.ends (CLIENT-03)" in printed


@each_collection
def test_packages_are_pinned_exactly_and_by_name_only(collection: Collection) -> None:
    packages = collection.packages().values()
    for package in packages:
        lock, pins = package.files / "package-lock.json", package.files / "requirements.txt"
        assert lock.exists() != pins.exists(), package.name
        if lock.exists():
            expect_none(lock_breaches(lock.read_text("utf-8")))
            manifest = json.loads((package.files / "package.json").read_text("utf-8"))
            assert manifest["dependencies"] == {package.package: package.version()}
        else:
            expect_none(pin_breaches(pins.read_text("utf-8")))
    folders = {path.name for path in collection.kind.folder.iterdir() if path.is_dir()}
    assert folders - {"__pycache__"} == {package.files.name for package in packages}


def test_a_verdict_that_differs_between_two_runs_is_reported() -> None:
    def run(verdict: Verdict, outcome: Outcome) -> Run:
        return run_of(msgspec.structs.replace(cell("a", ("x", verdict)), outcome=outcome))

    passed, failed = run(Verdict.SUCCESS, Outcome.PASSED), run(Verdict.FAILURE, Outcome.FAILED)
    assert list(differences([passed, passed, passed])) == []
    [line] = differences([passed, passed, failed])
    assert "passed → failed" in line and "x" in line


def test_page_says_which_packages_were_judged_several_times_with_the_same_verdicts() -> None:
    server = PublicServer("p", "SDK", ["x"])
    packages = {"memory": server, "time": server, "sqlite": server}
    results = [
        msgspec.structs.replace(judged(server=name), runs=runs, differing=differing)
        for name, runs, differing in (("memory", 3, 0), ("time", 3, 2), ("sqlite", 1, 0))
    ]
    written = page("", Record(1, 1, results), packages, reason())
    assert "2 were judged several times; 1 of them with the same verdicts." in written
    assert [part in written for part in ("| 3, the same |", "| 3, 2 differ |", "| 1 |")] == [True] * 3


def test_an_unknown_key_of_the_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "servers.toml"
    path.write_text('[x]\npackage = "x"\nbuilt_with = "y"\ncommand = []\nport = 1\n', "utf-8")
    with pytest.raises(msgspec.ValidationError, match="port"):
        public_servers(path)


def test_a_finding_without_a_reason_and_a_reason_without_a_finding_are_reported() -> None:
    assert list(reason("memory").breaches([judged(finding())])) == []
    assert "has no reason" in next(reason().breaches([judged(finding())]))
    assert "has no finding" in next(reason("memory").breaches([judged()]))


def test_reasons_for_servers_that_were_not_judged_are_left_alone() -> None:
    assert list(reason("memory", "time").breaches([judged(finding())])) == []


def test_few_and_small_traces_show_everything() -> None:
    both = cell("a", ("x", Verdict.FAILURE), ("y", Verdict.FAILURE), trace="both")
    single = cell("b", ("x", Verdict.FAILURE), trace="one")
    places = places_of(run_of(both, single))
    assert [chosen_cell.trace for chosen_cell in smallest_cover(places, {"both": 100, "one": 90})] == ["both"]
    assert {chosen_cell.trace for chosen_cell in smallest_cover(places, {"both": 1000, "one": 1})} == {
        "both",
        "one",
    }
    assert smallest_cover({}, {}) == []


def test_a_finding_is_listed_once() -> None:
    duplicates = [finding(trace="b.ndjson"), finding(trace="c.ndjson"), finding(requirement="AA-1")]
    listed = [(finding.requirement, finding.trace) for finding in deduplicated(duplicates)]
    assert listed == [("AA-1", "a.ndjson"), ("TL-19", "b.ndjson")]


def test_text_of_a_server_is_not_markup() -> None:
    server = PublicServer("p", "SDK", ["x"], name="memory")
    written = page("", Record(1, 1, [judged(finding())]), {"memory": server}, reason("memory"))
    assert "<that>" not in written and "&lt;that> \\| ```" in written
    assert "why: It is so." in written
