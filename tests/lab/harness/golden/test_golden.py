"""Golden runs: the same files for the same server, and every difference from them."""

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


def played(home: Path, trace: Trace, given: CellResult = PASSED) -> Run:
    """A run with that trace stored beside it, and a scenario that does not apply."""
    home.mkdir(exist_ok=True)
    (home / "trace.ndjson").write_bytes(dump_trace(trace))
    return run_of(replace(given, trace="trace.ndjson"), cell("a.b", outcome=Outcome.NOT_APPLICABLE))


def recorded(tmp_path: Path, trace: Trace, rules: Rules | None = None) -> Golden:
    run = played(tmp_path / "then", trace)
    record_golden(tmp_path / "golden", run, tmp_path / "then", "protocol", rules or Rules())
    return read_golden(tmp_path / "golden")


def compared(tmp_path: Path, golden: Golden, trace: Trace, given: CellResult = PASSED) -> Comparison:
    return compare_with_golden(golden, played(tmp_path / "now", trace, given), tmp_path / "now")


def contents(directory: Path) -> dict[str, bytes]:
    return {
        str(one.relative_to(directory)): one.read_bytes() for one in directory.rglob("*") if one.is_file()
    }


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


def test_recording_again_takes_away_what_is_no_longer_played(tmp_path: Path) -> None:
    recorded(tmp_path, saying("a"))
    (tmp_path / "golden" / "golden.toml").write_text("")
    record_golden(tmp_path / "golden", run_of(), tmp_path, "protocol", Rules())
    assert sorted(contents(tmp_path / "golden")) == ["golden.json", "golden.toml"]


def test_unchanged_server_is_as_the_golden_run(tmp_path: Path) -> None:
    found = compared(tmp_path, recorded(tmp_path, saying("a")), saying("a"))
    assert (found.differs, found.compared) == (False, 2)
    assert found.touched["moments"] == 1


def test_one_changed_byte_is_found_and_shown(tmp_path: Path) -> None:
    found = compared(tmp_path, recorded(tmp_path, saying("one byte")), saying("one bite"))
    (differing,) = found.cells
    (frame,) = differing.frames
    assert (differing.place, differing.verdicts) == (PLACE, [])
    assert (frame.at, frame.before, frame.after) == ("/result/text", '"one byte"', '"one bite"')
    assert (frame.frame_before, frame.frame_after) == (1, 1)


def test_another_verdict_is_found(tmp_path: Path) -> None:
    (differing,) = compared(tmp_path, recorded(tmp_path, saying("a")), saying("a"), FAILED).cells
    assert [(one.what, one.golden, one.now) for one in differing.verdicts] == [
        ("outcome", "passed", "failed"),
        ("c.d", "SUCCESS", "FAILURE TL-19"),
    ]
    assert differing.frames == []


def test_cells_that_only_one_has_are_told(tmp_path: Path) -> None:
    golden = recorded(tmp_path, saying("a"))
    found = compared(tmp_path, golden, saying("a"), replace(PASSED, transport="http"))
    assert (found.missing, found.extra) == ([PLACE], [("tools.x", "http", REVISION)])
    assert found.differs


@pytest.mark.parametrize(
    ("old", "new"), [(b"one byte", b"one bite"), (b'"closed":true', b'"closed":false'), (b"\n", b"\n\n")]
)
def test_a_golden_trace_that_was_changed_is_refused(tmp_path: Path, old: bytes, new: bytes) -> None:
    golden = recorded(tmp_path, saying("one byte"))
    path = tmp_path / "golden" / "tools-x" / f"stdio-{REVISION}.ndjson"
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises(BadGolden, match=f"stdio-{REVISION}.ndjson"):
        compared(tmp_path, golden, saying("one byte"))


def test_a_golden_trace_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    golden = recorded(tmp_path, saying("a"))
    path = tmp_path / "golden" / "tools-x" / f"stdio-{REVISION}.ndjson"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(BadGolden, match=r"not the trace that verdicts\.json"):
        compared(tmp_path, golden, saying("a"))
    path.unlink()
    with pytest.raises(BadGolden, match="No such file"):
        compared(tmp_path, golden, saying("a"))


def test_a_directory_of_something_else_is_left_alone(tmp_path: Path) -> None:
    directory = tmp_path / "golden"
    directory.mkdir()
    (directory / "precious").write_text("mine")
    with pytest.raises(BadGolden, match="something else than a golden run: precious"):
        recorded(tmp_path, saying("a"))
    with pytest.raises(BadGolden, match=r"golden\.json"):
        read_golden(directory)
    with pytest.raises(BadGolden, match="no directory"):
        record_golden(directory / "precious", run_of(), tmp_path, "protocol", Rules())


RULES = """
[[volatile]]
name = "build"
reason = "counts up"
pointers = ["/result/build"]
method = "ignore"
"""


def test_declared_values_are_left_aside_also_where_they_were_recorded_without(tmp_path: Path) -> None:
    recorded(tmp_path, saying("a", build=1))
    (tmp_path / "golden" / "golden.toml").write_text(RULES)
    golden = read_golden(tmp_path / "golden")
    found = compared(tmp_path, golden, saying("a", build=2))
    assert (found.differs, found.touched["build"]) == (False, 1)
    assert compared(tmp_path, golden, saying("b", build=2)).differs


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[", "not TOML"),
        ("[[volatile]]\nname = 'x'\n", "missing required field `reason`"),
        (RULES + "pointer = '/x'\n", "unknown field `pointer`"),
        (RULES.replace("/result", "result"), "begins with a slash"),
        (RULES.replace("ignore", "forget"), "Invalid enum value 'forget'"),
        ("volatiles = []\n", "unknown field"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(tmp_path: Path, text: str, problem: str) -> None:
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
