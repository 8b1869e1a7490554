"""`make test`: every file runs once, and nothing that fails is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.parallel_tests import (
    APART,
    EMPTY,
    PROCESSES,
    TESTS,
    Batch,
    Run,
    batches,
    divided_by_mark,
    test_files,
)

test_files.__test__ = False  # type: ignore[attr-defined]
GOOD = "def test_good(): pass\n"
BAD = "def test_bad(): assert 1 == 2, 'the reason'\n"
KILLED = "import os\n\ndef test_killed(): os.kill(os.getpid(), 9)\n"
UNREADABLE = "import missing_module\n"


def run(directory: Path, *sources: str, options: tuple[str, ...] = ()) -> Run:
    parts = []
    for number, source in enumerate(sources):
        file = directory / f"test_{number}.py"
        file.write_text(source, "utf-8")
        parts.append(Batch([file], directory / str(number)))
    runner = Run(parts, list(options), seed=1)
    runner.run()
    return runner


def test_every_file_but_those_of_other_commands_is_in_exactly_one_batch() -> None:
    files = test_files([TESTS])
    long, others = divided_by_mark(files)
    assert sorted([*long, *(file for batch in batches(others) for file in batch)]) == files
    assert set(TESTS.rglob("test_*.py")) - set(files) == {
        file for folder in APART for file in folder.rglob("test_*.py")
    }


def test_batches_get_smaller() -> None:
    sizes = [len(batch) for batch in batches([Path(str(number)) for number in range(1000)])]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] * PROCESSES < sizes[0]


def test_files_with_the_mark_are_apart(tmp_path: Path) -> None:
    marked, plain = tmp_path / "test_marked.py", tmp_path / "test_plain.py"
    marked.write_text("pytestmark = pytest.mark.long\n", "utf-8")
    plain.write_text(GOOD, "utf-8")
    assert divided_by_mark(test_files([tmp_path])) == ([marked], [plain])


@pytest.mark.parametrize(
    ("sources", "summary", "code", "shown"),
    [
        ((GOOD, GOOD), "2 passed", 0, ""),
        ((GOOD, BAD), "1 failed, 1 passed", 1, "the reason"),
        ((GOOD, KILLED), "1 crashed, 1 passed", 1, "test_1.py"),
        ((UNREADABLE,), "no tests", 1, "missing_module"),
        (("",), "no tests", EMPTY, ""),
    ],
    ids=["passed", "failed", "killed", "unreadable", "empty"],
)
def test_summary_and_exit_code_say_what_happened(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    sources: tuple[str, ...],
    summary: str,
    code: int,
    shown: str,
) -> None:
    runner = run(tmp_path, *sources)
    assert (runner.summary, runner.exit_code) == (summary, code)
    assert shown in capsys.readouterr().out


def test_options_apply_to_each_batch(tmp_path: Path) -> None:
    assert run(tmp_path, GOOD, BAD, options=("-k", "good")).exit_code == 0
