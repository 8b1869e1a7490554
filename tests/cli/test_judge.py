"""`assay judge`, `report`, `list` and `explain`: what a run has left behind, and what the lab holds."""

import json
import shutil
from itertools import pairwise
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest

from assay.cli.main import main
from assay.lab.harness.trace.file import dump_trace
from assay.lab.harness.trace.trace import Trace
from assay.lab.suites import protocol_suite, suite_named
from assay.revisions.registry import HANDSHAKE
from tests.lab.traces import request, result, stdio_trace
from tests.meta.tree import ROOT

Output = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one run has left behind; nobody changes it."""
    out = tmp_path_factory.mktemp("run") / "kept"
    options = ["--transport", "http", "--scenario", "ping", "--output", str(out)]
    assert main(["server", "everything", *options]) == 0
    return out


@pytest.fixture
def results(recorded: Path, tmp_path: Path, capsys: Output) -> Path:
    """A copy of its own for each test."""
    capsys.readouterr()
    return Path(shutil.copytree(recorded, tmp_path / "kept"))


def test_stored_traffic_is_judged_as_it_was_live(results: Path, capsys: Output) -> None:
    assert main(["judge", str(results)]) == 0
    output = capsys.readouterr().out
    assert "conforms: 4 passed" in output
    assert "supports" not in output  # a trace does not show which other revisions are supported


def test_changed_traffic_is_refused(results: Path, capsys: Output) -> None:
    path = next(results.rglob("*.ndjson"))
    path.write_bytes(path.read_bytes().replace(b'\\"result\\":{}', b'\\"result\\":{\\"a\\":1}', 1))
    assert main(["judge", str(path)]) == 2
    assert "the hash chain is broken" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["run-*", "run-*/run.json"])
def test_stored_run_names_the_traffic_to_judge(results: Path, place: str, capsys: Output) -> None:
    (run,) = results.glob(place)
    assert main(["judge", str(run)]) == 0
    assert "conforms: 4 passed" in capsys.readouterr().out


def test_refused_traffic_comes_with_its_line_and_a_way_out(results: Path, capsys: Output) -> None:
    path = next(results.rglob("*.ndjson"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3] + lines[4:]))
    assert main(["judge", str(results)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{path}:4: the hash chain is broken" in err
    assert err.splitlines()[-1].startswith("  judge a trace as it was recorded")


def test_every_stored_run_fits_the_published_schema(results: Path) -> None:
    validator = jsonschema_rs.validator_for(json.loads((ROOT / "docs" / "run.schema.json").read_bytes()))
    runs = list(results.glob("run-*/run.json"))
    assert runs
    for run in runs:
        validator.validate(json.loads(run.read_bytes()))


def test_traffic_of_unknown_origin_is_judged_by_every_check(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "foreign.ndjson"
    path.write_bytes(dump_trace(stdio_trace((">", request(1, "ping")), ("<", result("1")))))
    assert main(["judge", str(path)]) == 1
    assert "FAILURE jsonrpc.reply-id" in capsys.readouterr().out


VERSION = HANDSHAKE[-1].date
ABOUT = {"protocolVersion": VERSION, "capabilities": {}}
INFO = {"name": "x", "version": "1"}


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (2, 0, "conforms: 1 passed"),
        (1, 1, "FAILURE jsonrpc.fresh-ids"),
        (None, 1, "FAILURE jsonrpc.request-ids"),
    ],
)
def test_traffic_of_a_client_is_judged_by_what_any_traffic_shows(
    number: int | None, code: int, words: str, tmp_path: Path, capsys: Output
) -> None:
    trace = stdio_trace(
        ("<", request(1, "initialize", **ABOUT, clientInfo=INFO)),
        (">", result(1, **ABOUT, serverInfo=INFO)),
        ("<", {"jsonrpc": "2.0", "method": "notifications/initialized"}),
        ("<", request(number, "tools/list")),
        (">", result(number, tools=[])),
    )
    header = msgspec.structs.replace(trace.header, role="client")
    path = tmp_path / "foreign.ndjson"
    path.write_bytes(dump_trace(Trace(header, trace.frames)))
    assert main(["judge", str(path)]) == code
    assert words in capsys.readouterr().out


@pytest.mark.parametrize("name", ["missing.ndjson", "."])
def test_nothing_to_judge_is_a_mistake(tmp_path: Path, name: str, capsys: Output) -> None:
    assert main(["judge", str(tmp_path / name)]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("text", "conforms"),
        ("junit", "<testsuites"),
        ("json", '"format"'),
        ("markdown", "## ✅ conforms: "),
        ("sarif", "2.1.0"),
        ("html", "<!doctype html>"),
    ],
)
def test_stored_run_is_shown_in_every_form(results: Path, form: str, words: str, capsys: Output) -> None:
    (run,) = results.glob("run-*")
    assert main(["report", str(run), "--format", form]) == 0
    assert words in capsys.readouterr().out


def test_report_of_what_is_no_run_is_a_mistake(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "run.json").write_text("{}", "utf-8")
    assert main(["report", str(tmp_path)]) == 2
    assert main(["report", str(tmp_path / "gone")]) == 2
    assert "not a stored run" in capsys.readouterr().err


def test_every_scenario_is_listed(capsys: Output) -> None:
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n{name}" in f"\n{out}" for name in protocol_suite().scenarios)
    assert main(["list", "--client"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n{name}" in f"\n{out}" for name in suite_named("client").scenarios)


def test_list_tells_where_a_scenario_is_not_played_everywhere(capsys: Output) -> None:
    assert main(["list", "--client"]) == 0
    lines = capsys.readouterr().out.splitlines()
    places = {line.split()[0]: after.strip() for line, after in pairwise(lines)}
    assert places["initialize"].startswith("on http, stdio, ws at ")
    assert f"{HANDSHAKE[-1].date}; checks" in places["initialize"]
    assert places["core.open-house"].startswith("on http, stdio, ws; checks")


def test_coverage_is_shown_for_every_revision(capsys: Output) -> None:
    assert main(["list", "--coverage", "--missing"]) == 0
    assert capsys.readouterr().out.count("testable rows") == 5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--missing",), "--missing goes with --coverage"),
        (("--coverage", "--suite", "everything"), "--coverage is of the protocol suite"),
        (("--suite", "fuzz"), "the suite fuzz has nothing to list"),
    ],
)
def test_list_of_what_cannot_be_listed_is_a_mistake(
    options: tuple[str, ...], words: str, capsys: Output
) -> None:
    assert main(["list", *options]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("name", ["TL-19", "tl-19", "tools.unknown-name", "ping", "tools.unknown-empty"])
def test_everything_with_an_id_is_explained(name: str, capsys: Output) -> None:
    assert main(["explain", name]) == 0
    assert capsys.readouterr().out


def test_unknown_id_is_a_mistake(capsys: Output) -> None:
    assert main(["explain", "XX-99"]) == 2
    assert "nothing has the id XX-99" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("tools.unknown-names", "tools.unknown-name"),
        ("foreign-ori", "http.foreign-origin"),
        ("TL19", "TL-19"),
    ],
)
def test_what_may_have_been_meant_is_named(typed: str, meant: str, capsys: Output) -> None:
    assert main(["explain", typed]) == 2
    hint = capsys.readouterr().err
    assert "did you mean" in hint and meant in hint
