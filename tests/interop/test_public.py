"""Public servers: the page matches the stored traces, and everything is pinned."""

import json
from pathlib import Path

import msgspec
import pytest

from assay.cli.main import main
from assay.lab.harness.verdict import Verdict
from interop.public.__main__ import PAGE, TRACES, read_record, rejudge
from interop.public.page import page
from interop.public.reason import Reason, Reasons, read_reasons
from interop.public.record import JudgedServer, Record, ServerFinding, deduplicated, places_of, smallest_cover
from interop.public.table import PINS, PublicServer, public_servers
from tests.lab.runs import cell, run_of
from tests.meta.test_pins import lock_breaches, pin_breaches
from tests.meta.tree import ROOT, expect_none

LARGEST = 2 * 1024 * 1024
RECORD = read_record()
SERVERS = public_servers()


def finding(
    check: str = "tools.unknown-name", requirement: str = "TL-19", trace: str = "a.ndjson"
) -> ServerFinding:
    link = "https://modelcontextprotocol.io/specification"
    return ServerFinding(
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


def judged(*findings: ServerFinding, server: str = "memory") -> JudgedServer:
    return JudgedServer(server, "1", "stdio", ["1"], {"passed": 1}, list(findings))


def reason(*servers: str, requirement: str = "TL-19") -> Reasons:
    return Reasons([Reason("tools.unknown-name", requirement, list(servers), "It is so.")])


@pytest.mark.parametrize("known", RECORD.judged, ids=lambda known: known.server)
def test_stored_traces_show_the_findings_again(known: JudgedServer) -> None:
    assert rejudge(known).findings == known.findings


def test_every_server_of_the_table_was_judged_at_its_pinned_version() -> None:
    assert [(result.server, result.version, result.transport) for result in RECORD.judged] == [
        (name, server.version(), server.transport) for name, server in SERVERS.items()
    ]
    assert all(result.speaks for result in RECORD.judged)


def test_every_finding_is_explained_and_every_explanation_is_of_a_finding() -> None:
    expect_none(read_reasons().breaches(RECORD.judged))


def test_the_page_says_what_the_record_says() -> None:
    assert PAGE.read_text("utf-8") == page(RECORD, SERVERS, read_reasons())


def test_every_stored_trace_is_small_and_needed() -> None:
    stored = {path.relative_to(TRACES) for path in TRACES.rglob("*.ndjson")}
    needed = {Path(result.server, finding.trace) for result in RECORD.judged for finding in result.findings}
    assert stored == needed
    assert all((TRACES / path).stat().st_size <= LARGEST for path in stored)


def test_no_stored_trace_contains_a_path_of_a_machine() -> None:
    for path in TRACES.rglob("*.ndjson"):
        text = path.read_text("utf-8")
        assert str(ROOT) not in text and f"{Path.home()}/" not in text, path


def test_assay_judge_reports_a_stored_finding(capsys: pytest.CaptureFixture[str]) -> None:
    known = next(
        result for result in RECORD.judged if any(finding.verdict == "FAILURE" for finding in result.findings)
    )
    finding = next(finding for finding in known.findings if finding.verdict == "FAILURE")
    assert main(["judge", str(TRACES / known.server / finding.trace)]) == 1
    assert f"{finding.requirement} ({finding.level})" in capsys.readouterr().out


def test_servers_are_pinned_exactly_and_by_name_only() -> None:
    for server in SERVERS.values():
        lock, pins = server.files / "package-lock.json", server.files / "requirements.txt"
        assert lock.exists() != pins.exists(), server.name
        if lock.exists():
            expect_none(lock_breaches(lock.read_text("utf-8")))
            manifest = json.loads((server.files / "package.json").read_text("utf-8"))
            assert manifest["dependencies"] == {server.package: server.version()}
        else:
            expect_none(pin_breaches(pins.read_text("utf-8")))
    assert {path.name for path in PINS.iterdir()} == {server.files.name for server in SERVERS.values()}


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
    written = page(Record(1, 1, [judged(finding())]), {"memory": server}, reason("memory"))
    assert "<that>" not in written and "&lt;that> \\| ```" in written
    assert "why: It is so." in written
