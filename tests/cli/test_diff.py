"""`assay diff`: two stored runs, in one of three forms, and an exit code for scripts."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.cli.main import main
from assay.lab.harness.run.run import CellResult, dump_run
from assay.lab.harness.trace.file import dump_trace
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Verdict
from tests.lab.runs import REVISION, cell, finding, run_of
from tests.lab.traces import request, result, stdio_trace

PASSED = cell("tools.x", ("c.d", Verdict.SUCCESS))
FAILED = cell("tools.x", ("c.d", Verdict.FAILURE))


def saying(text: str) -> Trace:
    return stdio_trace((">", request(1, "tools/call")), ("<", result(1, text=text)))


def stored(path: Path, *cells: CellResult, trace: Trace | None = None) -> str:
    path.mkdir()
    if trace is not None:
        (path / "trace.ndjson").write_bytes(dump_trace(trace))
        cells = tuple(replace(first, trace="trace.ndjson") for first in cells)
    (path / "run.json").write_bytes(dump_run(run_of(*cells)))
    return str(path)


def test_worse_is_explained_and_exits_with_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = stored(tmp_path / "a", PASSED, trace=saying("yes"))
    after = stored(tmp_path / "b", FAILED, trace=saying("no"))
    assert main(["diff", before, after]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"WORSE tools.x (stdio {REVISION})"
    assert {
        "  outcome   passed → failed",
        "  c.d: SUCCESS → FAILURE",
        "    expected  this",
        "    observed  that",
        "  differs   frame #1 (subject on 1/lines), /result/text",
        '    before    "yes"',
        '    after     "no"',
    } <= set(lines)
    assert lines[-1] == "worse: 1 worse, 0 the same"


def test_better_and_the_same_exit_with_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = stored(tmp_path / "a", FAILED), stored(tmp_path / "b", PASSED)
    assert main(["diff", first, second]) == 0
    assert capsys.readouterr().out.startswith("BETTER tools.x")
    assert main(["diff", first, first]) == 0
    assert capsys.readouterr().out == "no worse: 1 the same\n"


def test_the_same_change_in_many_places_is_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = ("stdio", "http", "ws", "http-sse")
    before = stored(tmp_path / "a", *(replace(PASSED, transport=place) for place in places))
    after = stored(tmp_path / "b", *(replace(FAILED, transport=place) for place in places))
    main(["diff", before, after])
    output = [line for line in capsys.readouterr().out.splitlines() if line.startswith("WORSE")]
    assert output == [f"WORSE tools.x (stdio {REVISION}, http {REVISION}, ws {REVISION} and 1 more)"]


def test_what_only_one_run_has_takes_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = stored(tmp_path / "a", PASSED)
    two = stored(tmp_path / "b", PASSED, replace(FAILED, transport="http"))
    assert main(["diff", first, two]) == main(["diff", two, first]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"NEW tools.x (http {REVISION}): failed",
        "no worse: 1 new, 1 the same",
        f"GONE tools.x (http {REVISION}): failed",
        "no worse: 1 gone, 1 the same",
    ]


def test_json_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = stored(tmp_path / "a", PASSED), stored(tmp_path / "b", FAILED)
    assert main(["diff", before, after, "--format", "json"]) == 1
    output = json.loads(capsys.readouterr().out)
    assert output["counts"] == {"worse": 1, "flaky": 0, "better": 0, "new": 0, "gone": 0}
    assert output["cells"][0]["checks"][0]["after"] == "FAILURE"


def test_markdown_for_a_comment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = replace(FAILED.checks[0], findings=[finding("@octocat <b>")])
    before = stored(tmp_path / "a", PASSED)
    after = stored(tmp_path / "b", replace(FAILED, checks=[check]))
    main(["diff", before, after, "--format", "markdown"])
    output = capsys.readouterr().out
    assert output.startswith("## worse: 1 worse, 0 the same\n\n<details open><summary><b>worse</b>")
    assert "  - observed: `@octocat <b>`" in output


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nowhere", "nowhere"], "nowhere"),
        (["{a}", "{a}", "--format", "xml"], "unknown format: xml"),
        (["{a}", "{a}", "{a}"], "unexpected argument"),
        (["{odd}", "{a}"], "not a stored run"),
    ],
)
def test_wrong_use_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    (tmp_path / "odd").write_text("{}")
    names = {"a": stored(tmp_path / "a", PASSED), "odd": str(tmp_path / "odd")}
    assert main(["diff", *(first.format(**names) for first in arguments)]) == 2
    assert problem in capsys.readouterr().err


def test_a_trace_that_was_changed_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = stored(tmp_path / "a", PASSED, trace=saying("yes"))
    after = stored(tmp_path / "b", FAILED, trace=saying("no"))
    path = tmp_path / "b" / "trace.ndjson"
    path.write_bytes(path.read_bytes().replace(b"no", b"on"))
    assert main(["diff", before, after]) == 2
    assert "trace.ndjson" in capsys.readouterr().err
