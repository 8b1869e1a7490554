"""Baselines accept listed failures, and report entries that no longer fail."""

from pathlib import Path

import pytest

from assay.lab.harness.run.baseline import LARGEST, BadBaseline, compare, is_expected, read_baseline
from assay.lab.harness.run.conclusion import Conclusion, conclude, headline
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.verdict import Outcome, Verdict
from tests.lab.runs import cell, run_of


def baseline(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "baseline.yaml"
    path.write_text(text, "utf-8")
    return path


def judged(*cells: CellResult, text: str, tmp_path: Path, strict: bool = False) -> Run:
    run = run_of(*cells, strict=strict)
    compared = compare(run, read_baseline(baseline(tmp_path, text)))
    return run_of(*cells, strict=strict, expected=compared.expected, stale=compared.stale)


FAILING = cell(
    "tools.unknown-name", ("tools.unknown-name", Verdict.FAILURE), ("jsonrpc.version", Verdict.SUCCESS)
)


@pytest.mark.parametrize(
    "entry", ["tools.unknown-name", "tools-unknown-name", "tools-*", "tools-*:tools.unknown-name"]
)
def test_expected_failure_is_accepted(tmp_path: Path, entry: str) -> None:
    run = judged(FAILING, text=f"server:\n  - {entry}\n", tmp_path=tmp_path)
    assert run.expected == [entry]
    assert conclude(run) is Conclusion.CONFORMS
    assert is_expected(run, FAILING, FAILING.checks[0])


@pytest.mark.parametrize("entry", ["ping", "tools-unknown-name:jsonrpc.version"])
def test_entry_that_does_not_fail_is_stale_and_fails_the_run(tmp_path: Path, entry: str) -> None:
    passing = cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS))
    run = judged(passing, text=f"server: ['{entry}']", tmp_path=tmp_path)
    assert run.stale == [entry]
    assert conclude(run) is Conclusion.DOES_NOT_CONFORM


def test_entries_of_the_other_role_are_ignored(tmp_path: Path) -> None:
    assert read_baseline(baseline(tmp_path, "client: [auth]\n")) == []
    assert read_baseline(baseline(tmp_path, "# nothing\n")) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("server: {a: 1}", "must be a list"),
        ("server: [1]", "must be a list"),
        ("servers: []", "has the keys `server` and `client`"),
        ("- a", "has the keys `server` and `client`"),
        ("a: [", "not YAML"),
        ("!!python/object:os.system {}", "not YAML"),
    ],
)
def test_other_content_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadBaseline, match=words):
        read_baseline(baseline(tmp_path, text))


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadBaseline, match="No such file"):
        read_baseline(tmp_path / "nowhere.yaml")


PASSED = cell("a.b", ("c.d", Verdict.SUCCESS))
WARNED = cell("a.b", ("c.d", Verdict.WARNING))
NOT_APPLICABLE = cell("a.b", outcome=Outcome.NOT_APPLICABLE)
UNOBSERVED = cell("a.b", ("c.d", Verdict.SKIPPED))
BROKE_OFF = cell("a.b", ("c.d", Verdict.SKIPPED), broke_off=True)


@pytest.mark.parametrize(
    ("cells", "conclusion"),
    [
        ([], Conclusion.INCOMPLETE),
        ([PASSED], Conclusion.CONFORMS),
        ([PASSED, UNOBSERVED, NOT_APPLICABLE], Conclusion.CONFORMS),
        ([WARNED], Conclusion.CONFORMS),
        ([FAILING, PASSED], Conclusion.DOES_NOT_CONFORM),
        ([FAILING, BROKE_OFF], Conclusion.DOES_NOT_CONFORM),
        ([PASSED, BROKE_OFF], Conclusion.INCOMPLETE),
        ([UNOBSERVED], Conclusion.INCOMPLETE),
        ([NOT_APPLICABLE], Conclusion.INCOMPLETE),
    ],
)
def test_conclusion_of_a_run(cells: list[CellResult], conclusion: Conclusion) -> None:
    run = run_of(*cells)
    assert conclude(run) is conclusion
    assert headline(run).startswith(conclusion.value)


def test_warnings_count_in_a_strict_run() -> None:
    assert conclude(run_of(WARNED, strict=True)) is Conclusion.DOES_NOT_CONFORM


def test_interrupted_run_concludes_as_interrupted() -> None:
    assert conclude(run_of(PASSED, interrupted=True)) is Conclusion.INTERRUPTED


def test_cells_with_different_outcomes_are_flaky() -> None:
    run = run_of(
        PASSED, cell("a.b", ("c.d", Verdict.FAILURE), attempt=2), cell("e.f", ("c.d", Verdict.SUCCESS))
    )
    assert run.flaky == [("a.b", "stdio", PASSED.revision)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x" * (LARGEST + 1), f"larger than {LARGEST} bytes"),
        ("- " * 5000, "nested too deeply"),
        ("a: &a {x: 1}\nserver: {<<: [*a, *a]}", "cannot merge mappings"),
    ],
)
def test_hostile_baseline_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "baseline.yaml").write_text(text)
    with pytest.raises(BadBaseline, match=problem):
        read_baseline(tmp_path / "baseline.yaml")
