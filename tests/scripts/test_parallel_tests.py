"""`make test`: every file runs once, and nothing that fails is lost."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scripts.parallel_tests import APART, OPTIONS, TESTS, Distribution, in_order

GOOD = "def test_good(): pass\n"
BAD = "def test_bad(): assert 1 == 2, 'the reason'\n"
NOISY = "def test_noisy():\n    print('said on the way')\n    assert False\n"
KILLED = "import os\n\ndef test_killed(): os.kill(os.getpid(), 9)\n"
BROKEN_FIXTURE = "import pytest\n\n@pytest.fixture\ndef broken(): 1 / 0\n\ndef test_it(broken): pass\n"
UNREADABLE = "import missing_module\n"
LONG = "import pytest\n\npytestmark = pytest.mark.long\n\ndef test_good(): pass\n"


def run(directory: Path, *sources: str, options: tuple[str, ...] = ()) -> tuple[int, str]:
    """Run these files in a process, and return its exit code and its output."""
    for number, source in enumerate(sources):
        (directory / f"test_{number}.py").write_text(source, "utf-8")
    (directory / "pytest.ini").write_text("[pytest]\nmarkers = long\n", "utf-8")
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
    ],
    ids=["passed", "failed", "noisy", "killed", "fixture", "unreadable", "empty"],
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


class Collected(NamedTuple):
    nodeid: str
    mark: str = ""

    def iter_markers(self, name: str) -> list[str]:
        return [self.mark] * (self.mark == name)
