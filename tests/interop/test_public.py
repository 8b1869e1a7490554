"""Public servers: what the page says of them is what their kept traces show, and everything is pinned."""

import json
from pathlib import Path

import msgspec
import pytest

from assay.cli.main import main
from assay.lab.harness.verdict import Verdict
from interop.public.__main__ import PAGE, TRACES, judged_again, read_record
from interop.public.page import page
from interop.public.reason import Reason, Reasons, read_reasons
from interop.public.record import Found, Judged, Record, chosen, once, places_of
from interop.public.table import PINS, PublicServer, public_servers
from tests.lab.runs import cell, run_of
from tests.meta.test_pins import lock_breaches, pin_breaches
from tests.meta.tree import ROOT, expect_none

LARGEST = 128 * 1024
RECORD = read_record()
SERVERS = public_servers()


def found(check: str = "tools.unknown-name", requirement: str = "TL-19", trace: str = "a.ndjson") -> Found:
    link = "https://modelcontextprotocol.io/specification"
    return Found(
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


def judged(*findings: Found, server: str = "memory") -> Judged:
    return Judged(server, "1", "stdio", ["1"], {"passed": 1}, list(findings))


def reason(*servers: str, requirement: str = "TL-19") -> Reasons:
    return Reasons([Reason("tools.unknown-name", requirement, list(servers), "It is so.")])


@pytest.mark.parametrize("known", RECORD.judged, ids=lambda known: known.server)
def test_kept_traces_show_again_what_was_found(known: Judged) -> None:
    assert judged_again(known).found == known.found


def test_every_server_of_the_table_was_judged_at_its_pinned_version() -> None:
    assert [(one.server, one.version, one.transport) for one in RECORD.judged] == [
        (name, server.version(), server.transport) for name, server in SERVERS.items()
    ]
    assert all(one.speaks for one in RECORD.judged)


def test_every_finding_is_explained_and_every_explanation_is_of_a_finding() -> None:
    expect_none(read_reasons().breaches(RECORD.judged))


def test_the_page_says_what_the_record_says() -> None:
    assert PAGE.read_text("utf-8") == page(RECORD, SERVERS, read_reasons())


def test_every_kept_trace_is_small_and_proves_something() -> None:
    kept = {path.relative_to(TRACES) for path in TRACES.rglob("*.ndjson")}
    needed = {Path(one.server, finding.trace) for one in RECORD.judged for finding in one.found}
    assert kept == needed
    assert all((TRACES / path).stat().st_size <= LARGEST for path in kept)


def test_no_kept_trace_names_a_place_on_a_machine() -> None:
    for path in TRACES.rglob("*.ndjson"):
        text = path.read_text("utf-8")
        assert str(ROOT) not in text and f"{Path.home()}/" not in text, path


def test_assay_judge_finds_fault_with_a_kept_trace(capsys: pytest.CaptureFixture[str]) -> None:
    known = next(one for one in RECORD.judged if any(each.verdict == "FAILURE" for each in one.found))
    finding = next(each for each in known.found if each.verdict == "FAILURE")
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


def test_a_row_with_a_word_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "servers.toml"
    path.write_text('[x]\npackage = "x"\nbuilt_with = "y"\ncommand = []\nport = 1\n', "utf-8")
    with pytest.raises(msgspec.ValidationError, match="port"):
        public_servers(path)


def test_finding_without_a_reason_and_reason_without_a_finding_are_told() -> None:
    assert list(reason("memory").breaches([judged(found())])) == []
    assert "nobody has written why" in next(reason().breaches([judged(found())]))
    assert "was not found" in next(reason("memory").breaches([judged()]))


def test_reasons_for_servers_that_were_not_judged_are_left_alone() -> None:
    assert list(reason("memory", "time").breaches([judged(found())])) == []


def test_fewest_and_smallest_traces_are_kept_that_show_everything() -> None:
    both = cell("a", ("x", Verdict.FAILURE), ("y", Verdict.FAILURE), trace="both")
    one = cell("b", ("x", Verdict.FAILURE), trace="one")
    places = places_of(run_of(both, one))
    assert [each.trace for each in chosen(places, {"both": 100, "one": 90})] == ["both"]
    assert {each.trace for each in chosen(places, {"both": 1000, "one": 1})} == {"both", "one"}
    assert chosen({}, {}) == []


def test_finding_is_told_once_whatever_shows_it() -> None:
    twice = [found(trace="b.ndjson"), found(trace="c.ndjson"), found(requirement="AA-1")]
    told = [(one.requirement, one.trace) for one in once(twice)]
    assert told == [("AA-1", "a.ndjson"), ("TL-19", "b.ndjson")]


def test_what_a_server_said_is_no_markup_of_the_page() -> None:
    server = PublicServer("p", "SDK", ["x"], name="memory")
    written = page(Record(1, 1, [judged(found())]), {"memory": server}, reason("memory"))
    assert "<that>" not in written and "&lt;that> \\| ```" in written
    assert "true because: It is so." in written
