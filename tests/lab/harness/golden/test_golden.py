"""Golden runs: equal files for an unchanged server, and the differences of a changed one."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from assay.lab.harness.golden.comparison import Comparison, compare_with_golden
from assay.lab.harness.golden.golden import Golden, read_golden, record_golden
from assay.lab.harness.golden.rules import BadGolden, Rules, read_rules
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.trace.file import dump_trace
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Outcome, Verdict
from tests.lab.runs import REVISION, cell, run_of
from tests.lab.traces import request, result, stdio_trace

PLACE = ("tools.x", "stdio", REVISION)
PASSED = cell("tools.x", ("c.d", Verdict.SUCCESS))
FAILED = cell("tools.x", ("c.d", Verdict.FAILURE))


def saying(text: str, **more: Any) -> Trace:
    return stdio_trace((">", request(1, "tools/call")), ("<", result(1, text=text, **more)))


def stored(home: Path, trace: Trace, result: CellResult = PASSED) -> Run:
    """A run with that trace, and a scenario that does not apply."""
    home.mkdir(exist_ok=True)
    (home / "trace.ndjson").write_bytes(dump_trace(trace))
    return run_of(replace(result, trace="trace.ndjson"), cell("a.b", outcome=Outcome.NOT_APPLICABLE))


def recorded(tmp_path: Path, trace: Trace, rules: Rules | None = None) -> Golden:
    run = stored(tmp_path / "then", trace)
    record_golden(tmp_path / "golden", run, tmp_path / "then", "protocol", rules or Rules())
    return read_golden(tmp_path / "golden")


def compared(tmp_path: Path, golden: Golden, trace: Trace, result: CellResult = PASSED) -> Comparison:
    return compare_with_golden(golden, stored(tmp_path / "now", trace, result), tmp_path / "now")


def contents(directory: Path) -> dict[str, bytes]:
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def test_recording_again_changes_nothing(tmp_path: Path) -> None:
    recorded(tmp_path, saying("a", nextCursor="x"))
    before = contents(tmp_path / "golden")
    assert sorted(before) == [
        "a-b/verdicts.json",
        "golden.json",
        f"tools-x/stdio-{REVISION}.ndjson",
        "tools-x/verdicts.json",
    ]
    recorded(tmp_path, saying("a", nextCursor="y"))
    assert contents(tmp_path / "golden") == before


def test_recording_again_removes_cells_that_no_longer_run(tmp_path: Path) -> None:
    recorded(tmp_path, saying("a"))
    (tmp_path / "golden" / "golden.toml").write_text("")
    record_golden(tmp_path / "golden", run_of(), tmp_path, "protocol", Rules())
    assert sorted(contents(tmp_path / "golden")) == ["golden.json", "golden.toml"]


def test_unchanged_server_equals_the_golden_run(tmp_path: Path) -> None:
    comparison = compared(tmp_path, recorded(tmp_path, saying("a")), saying("a"))
    assert (comparison.differs, comparison.compared) == (False, 2)
    assert comparison.applied["moments"] == 1


def test_one_changed_byte_is_reported(tmp_path: Path) -> None:
    comparison = compared(tmp_path, recorded(tmp_path, saying("one byte")), saying("one bite"))
    (differing,) = comparison.cells
    (frame,) = differing.frames
    assert (differing.place, differing.verdicts) == (PLACE, [])
    assert (frame.at, frame.before, frame.after) == ("/result/text", '"one byte"', '"one bite"')
    assert (frame.frame_before, frame.frame_after) == (1, 1)


def test_changed_verdict_is_reported(tmp_path: Path) -> None:
    (differing,) = compared(tmp_path, recorded(tmp_path, saying("a")), saying("a"), FAILED).cells
    assert [(verdict.name, verdict.golden, verdict.now) for verdict in differing.verdicts] == [
        ("outcome", "passed", "failed"),
        ("c.d", "SUCCESS", "FAILURE TL-19"),
    ]
    assert differing.frames == []


def test_missing_and_extra_cells_are_reported(tmp_path: Path) -> None:
    golden = recorded(tmp_path, saying("a"))
    comparison = compared(tmp_path, golden, saying("a"), replace(PASSED, transport="http"))
    assert (comparison.missing, comparison.extra) == ([PLACE], [("tools.x", "http", REVISION)])
    assert comparison.differs


@pytest.mark.parametrize(
    ("old", "new"), [(b"one byte", b"one bite"), (b'"closed":true', b'"closed":false'), (b"\n", b"\n\n")]
)
def test_modified_golden_trace_is_refused(tmp_path: Path, old: bytes, new: bytes) -> None:
    golden = recorded(tmp_path, saying("one byte"))
    path = tmp_path / "golden" / "tools-x" / f"stdio-{REVISION}.ndjson"
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises(BadGolden, match=f"stdio-{REVISION}.ndjson"):
        compared(tmp_path, golden, saying("one byte"))


def test_truncated_golden_trace_is_refused(tmp_path: Path) -> None:
    golden = recorded(tmp_path, saying("a"))
    path = tmp_path / "golden" / "tools-x" / f"stdio-{REVISION}.ndjson"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(BadGolden, match=r"not the trace that was recorded with verdicts\.json"):
        compared(tmp_path, golden, saying("a"))
    path.unlink()
    with pytest.raises(BadGolden, match="No such file"):
        compared(tmp_path, golden, saying("a"))


def test_other_directories_are_not_overwritten(tmp_path: Path) -> None:
    directory = tmp_path / "golden"
    directory.mkdir()
    (directory / "precious").write_text("mine")
    with pytest.raises(BadGolden, match="is not a golden run: it contains precious"):
        recorded(tmp_path, saying("a"))
    with pytest.raises(BadGolden, match=r"golden\.json"):
        read_golden(directory)
    with pytest.raises(BadGolden, match="not a directory"):
        record_golden(directory / "precious", run_of(), tmp_path, "protocol", Rules())


RULES = """
[[volatile]]
name = "build"
reason = "counts up"
pointers = ["/result/build"]
method = "ignore"
"""


def test_values_declared_after_recording_are_ignored(tmp_path: Path) -> None:
    recorded(tmp_path, saying("a", build=1))
    (tmp_path / "golden" / "golden.toml").write_text(RULES)
    golden = read_golden(tmp_path / "golden")
    comparison = compared(tmp_path, golden, saying("a", build=2))
    assert (comparison.differs, comparison.applied["build"]) == (False, 1)
    assert compared(tmp_path, golden, saying("b", build=2)).differs


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[", "not TOML"),
        ("[[volatile]]\nname = 'x'\n", "missing required field `reason`"),
        (RULES + "pointer = '/x'\n", "unknown field `pointer`"),
        (RULES.replace("/result", "result"), "must begin with a slash"),
        (RULES.replace("ignore", "forget"), "Invalid enum value 'forget'"),
        ("volatiles = []\n", "unknown field"),
    ],
)
def test_invalid_declarations_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "golden.toml"
    path.write_text(text)
    with pytest.raises(BadGolden, match=problem):
        read_rules(path)


def test_pointers_of_the_command_line_are_ignored_too(tmp_path: Path) -> None:
    golden = recorded(tmp_path, saying("a", build=1))
    ignoring = replace(golden, rules=golden.rules.and_ignore(["/result/build"]))
    assert not compared(tmp_path, ignoring, saying("a", build=2)).differs
    with pytest.raises(BadGolden, match="slash"):
        golden.rules.and_ignore(["build"])
