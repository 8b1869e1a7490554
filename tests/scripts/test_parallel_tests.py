"""`make test`: every file runs once, and nothing that fails is lost."""

from __future__ import annotations

import os
import re
import socket
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scripts.parallel_tests import (
    APART,
    OPTIONS,
    TESTS,
    Distribution,
    Outcome,
    TestFile,
    Worker,
    dearest,
    in_order,
    next_for,
)

GOOD = "def test_good(): pass\n"
BAD = "def test_bad(): assert 1 == 2, 'the reason'\n"
NOISY = "def test_noisy():\n    print('said on the way')\n    assert False\n"
KILLED = "import os\n\ndef test_killed(): os.kill(os.getpid(), 9)\n"
BROKEN_FIXTURE = "import pytest\n\n@pytest.fixture\ndef broken(): 1 / 0\n\ndef test_it(broken): pass\n"
UNREADABLE = "import missing_module\n"
WAITS = "import pytest\n\npytestmark = pytest.mark.waits\n\ndef test_good(): pass\n"
LONG = "import pytest\n\npytestmark = pytest.mark.long\n\ndef test_good(): pass\n"


def run(directory: Path, *sources: str, options: tuple[str, ...] = ()) -> tuple[int, str]:
    """Run these files in a process, and return its exit code and its output."""
    for number, source in enumerate(sources):
        (directory / f"test_{number}.py").write_text(source, "utf-8")
    (directory / "pytest.ini").write_text("[pytest]\nmarkers =\n  long\n  waits\n", "utf-8")
    arguments = [*OPTIONS, "--import-mode=importlib", "-p", "no:randomly", *options, str(directory)]
    output, workers = directory / "output", directory / "workers"
    workers.mkdir()
    process = os.fork()
    if process == 0:
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        sys.stdout = sys.stderr = os.fdopen(1, "w")
        code = pytest.main([*arguments, "-W", "ignore:Module already imported"], [Distribution(workers)])
        sys.stdout.flush()
        os._exit(code)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status), output.read_text("utf-8")


def test_only_the_files_of_other_commands_are_left_out() -> None:
    assert [option for option in OPTIONS if "ignore" in option] == [f"--ignore={folder}" for folder in APART]
    assert [folder.relative_to(TESTS).name for folder in APART] == ["meta", "system"]


@pytest.mark.parametrize(
    ("sources", "summary", "code", "shown"),
    [
        ((GOOD, GOOD, GOOD, GOOD, GOOD, GOOD), "6 passed", 0, ""),
        ((GOOD, BAD), "1 failed, 1 passed", 1, "AssertionError: the reason"),
        ((GOOD, NOISY), "1 failed, 1 passed", 1, "said on the way"),
        ((GOOD, KILLED, GOOD), "1 failed, 2 passed", 1, "test_1.py ended with status -9"),
        ((BROKEN_FIXTURE,), "1 error", 1, "ZeroDivisionError"),
        ((UNREADABLE, GOOD), "1 error", 2, "missing_module"),
        (("",), "no tests ran", 5, ""),
        ((WAITS, GOOD, WAITS), "3 passed", 0, ""),
        ((WAITS,) * 9, "9 passed", 0, ""),
        ((WAITS + KILLED, GOOD, WAITS), "1 failed, 2 passed", 1, "test_0.py ended with status -9"),
    ],
    ids=[
        *("passed", "failed", "noisy", "killed", "fixture", "unreadable", "empty"),
        *("some wait", "all wait", "killed while it waits"),
    ],
)
def test_summary_and_exit_code_say_what_happened(
    tmp_path: Path, sources: tuple[str, ...], summary: str, code: int, shown: str
) -> None:
    outcome, output = run(tmp_path, *sources)
    assert (outcome, re.sub(r" in [\d.]+s\s*$", "", output).splitlines()[-1]) == (code, summary)
    assert shown in output


def test_options_are_those_of_pytest(tmp_path: Path) -> None:
    assert run(tmp_path, GOOD, BAD, options=("-k", "good"))[0] == 0


def test_first_failure_ends_the_run_on_request(tmp_path: Path) -> None:
    code, output = run(tmp_path, LONG.replace("pass", "assert False"), *[GOOD] * 20, options=("-x",))
    assert code == 1 and "stopping after 1 failures" in output


def test_workers_have_their_own_directories_for_temporary_files(tmp_path: Path) -> None:
    place = f"def test_place(tmp_path): assert str(tmp_path.parents[3]) == {str(tmp_path / 'workers')!r}\n"
    assert run(tmp_path, *[place] * 3)[0] == 0


def test_files_with_the_mark_begin_before_the_others() -> None:
    items: list[Any] = [Collected("test_0.py::test_a"), Collected("test_1.py::test_b", "long")]
    items.append(Collected("test_0.py::test_c"))
    assert [(file.path, len(file.items)) for file in in_order(items)] == [("test_1.py", 1), ("test_0.py", 2)]


def test_files_that_wait_run_last_or_beside_the_others() -> None:
    items: list[Any] = [Collected("test_0.py::test_a", "waits"), Collected("test_1.py::test_b")]
    items.append(Collected("test_2.py::test_c", "waits"))
    waiting = in_order(items)
    beside, other = (Worker(0, socket.socket(), beside) for beside in (True, False))
    with beside.connection, other.connection:
        taken = [next_for(worker, waiting) for worker in (beside, other, beside, other, beside)]
    assert [file and file.path for file in taken] == ["test_0.py", "test_1.py", "test_2.py", None, None]


def test_a_process_beside_the_others_runs_nothing_else() -> None:
    waiting = [TestFile("test_0.py", [Collected("test_0.py::test_a")])]  # type: ignore[list-item]
    with socket.socket() as connection:
        assert next_for(Worker(0, connection, True), waiting) is None


def test_files_that_take_most_time_are_listed_on_request(tmp_path: Path) -> None:
    busy = "def test_busy(): sum(range(10**7))\n"
    code, output = run(tmp_path, GOOD, busy, GOOD, options=("--dearest", "2"))
    head, first, _, total = output.split("  CPU s", 1)[1].splitlines()[:4]
    assert (code, head.split()) == (0, ["wall", "s"])
    assert first.endswith("test_1.py") and float(first.split()[0]) > 0.05
    assert "all files" in total


def test_without_a_request_no_files_are_listed(tmp_path: Path) -> None:
    assert "CPU s" not in run(tmp_path, GOOD)[1]


def test_time_of_started_processes_belongs_to_their_file() -> None:
    lines = dearest({"a.py": Outcome([], 3.0, 2.0), "b.py": Outcome([], 1.0, 0.5)}, 1, {"b.py": 4.0})
    assert [line.split() for line in lines[1:]] == [
        ["4.50", "1.00", "b.py"],
        ["6.50", "all", "files,", "4.00", "of", "it", "in", "processes", "of", "the", "fork", "server"],
    ]


class Collected(NamedTuple):
    nodeid: str
    mark: str = ""

    def iter_markers(self, name: str) -> list[str]:
        return [self.mark] * (self.mark == name)
