"""Earlier runs of the same subjects make a trend."""

from pathlib import Path

from assay.lab.harness.run.history import MOST, trend, with_history
from assay.lab.harness.run.run import Run, dump_run
from assay.lab.harness.verdict import Verdict
from assay.lab.report.registry import renderer
from tests.lab.runs import cell, run_of

FAILED = run_of(cell("a.b", ("c.d", Verdict.FAILURE)))
PASSED = run_of(cell("a.b", ("c.d", Verdict.SUCCESS)))


def store(home: Path, number: int, run: Run) -> Path:
    folder = home / f"run-2000-01-{number:02}"
    folder.mkdir()
    (folder / "run.json").write_bytes(dump_run(run))
    return folder


def test_failures_of_earlier_runs_come_before_those_of_this_one(tmp_path: Path) -> None:
    store(tmp_path, 1, FAILED)
    home = store(tmp_path, 2, PASSED)
    store(tmp_path, 3, FAILED)  # later
    assert list(trend(with_history(PASSED, home))) == ["trend over 2 runs: failures 1 → 0; warnings 0 → 0"]


def test_files_that_are_no_runs_are_left_out(tmp_path: Path) -> None:
    (store(tmp_path, 1, FAILED) / "run.json").write_text("{", "utf-8")
    home = store(tmp_path, 2, PASSED)
    assert with_history(PASSED, home).earlier == []


def test_trend_is_bounded(tmp_path: Path) -> None:
    for number in range(1, MOST + 4):
        home = store(tmp_path, number, FAILED)
    assert len(with_history(FAILED, home).earlier) == MOST


def test_page_shows_the_trend(tmp_path: Path) -> None:
    store(tmp_path, 1, FAILED)
    page = renderer("html")(with_history(PASSED, store(tmp_path, 2, PASSED)))
    assert "broken rules in the last 2 runs" in page and "0 failures, at first 1" in page
