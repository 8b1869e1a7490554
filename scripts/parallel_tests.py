"""Run the tests on all cores: `make test`.

The test files are divided into batches. Each batch is a run of pytest in a process that is forked from this
one, which has imported what most tests need. pytest-xdist would import everything and collect every test in
each of its processes, and send a message for each result: a third of the CPU time of sixteen thousand quick
tests.

Arguments are those of pytest: paths select files, options apply to each batch, whose output is then printed.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from io import FileIO, TextIOWrapper
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

import pytest

from tests.driving.warm_python import warm_python

TESTS: Final = Path(__file__).parents[1] / "tests"
APART: Final = (TESTS / "meta", TESTS / "system")
"""`make check` and `make system` run these."""
LONG: Final = "pytest.mark.long"
PROCESSES: Final = 2 * (os.cpu_count() or 1)
"""More than cores: many tests wait for processes that they started."""
ROUNDS: Final = 4
"""The share of a process in the remaining files is run in about this many batches."""
SMALLEST: Final = 3
PRELOADED: Final = (
    *("assay.server.server", "assay.client.client", "assay.lab.suites"),
    *("hypothesis", "_hypothesis_pytestplugin", "jsonschema_rs", "mcp_types.methods", "pydantic"),
    *("pytest_asyncio.plugin", "pytest_randomly", "pytest_timeout"),
)
OPTIONS: Final = ("-p", "no:cacheprovider", "-W", "ignore:Module already imported")
SEED: Final = "--randomly-seed="
EMPTY: Final = int(pytest.ExitCode.NO_TESTS_COLLECTED)


class Batch(NamedTuple):
    files: list[Path]
    directory: Path
    """For what the run writes: its output, its result, and the temporary files of its tests."""


class Tally:
    """A plugin of pytest that counts the outcomes of tests."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            self.outcomes["error" if report.failed and report.when != "call" else report.outcome] += 1


def main(arguments: list[str]) -> int:
    paths = [Path(argument) for argument in arguments if Path(argument).exists()]
    options = [argument for argument in arguments if not Path(argument).exists()]
    if any("::" in option for option in options):
        return int(pytest.main(arguments))
    start, seed = time.monotonic(), seed_in(options)
    long, others = divided_by_mark(test_files(paths or [TESTS]))
    random.Random(seed).shuffle(others)  # no test depends on what ran before
    preload()
    with tempfile.TemporaryDirectory(prefix="assay-tests-", ignore_cleanup_errors=True) as directory:
        parts = [*([file] for file in long), *batches(others)]
        run = Run(
            [Batch(part, Path(directory) / str(number)) for number, part in enumerate(parts)], options, seed
        )
        run.run()
    print(f"{run.summary} in {time.monotonic() - start:.0f} s ({SEED}{seed})")
    return run.exit_code


def seed_in(options: list[str]) -> int:
    """The seed of a run to repeat, or a new one."""
    for option in options:
        if option.startswith(SEED):
            return int(option.removeprefix(SEED))
    return random.SystemRandom().randrange(2**32)


def test_files(paths: Iterable[Path]) -> list[Path]:
    files: set[Path] = set()
    for path in paths:
        files.update([path.resolve()] if path.is_file() else path.resolve().rglob("test_*.py"))
    return sorted(file for file in files if not any(file.is_relative_to(folder) for folder in APART))


def divided_by_mark(files: list[Path]) -> tuple[list[Path], list[Path]]:
    """Files that take long begin first, each alone: at the end, no process is left with one of them."""
    long = [file for file in files if LONG in file.read_text("utf-8")]
    return long, [file for file in files if file not in long]


def batches(files: list[Path]) -> Iterator[list[Path]]:
    """Batches that get smaller, so that all processes end at about the same time."""
    while files:
        size = max(len(files) // (ROUNDS * PROCESSES), SMALLEST)
        yield files[:size]
        files = files[size:]


def preload() -> None:
    for name in PRELOADED:
        importlib.import_module(name)
    # Shells start background jobs with interrupts ignored, which tests of interrupts would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warm_python()  # all batches share its fork server
    gc.collect()
    gc.freeze()


class Run:
    def __init__(self, waiting: list[Batch], options: list[str], seed: int) -> None:
        self._waiting = waiting[::-1]
        self._number = len(waiting)
        self._running: dict[int, Batch] = {}
        self._options = [*OPTIONS, f"{SEED}{seed}", *options]
        self._is_verbose = bool(options)
        self._outcomes: Counter[str] = Counter()
        self._codes: set[int] = set()

    def run(self) -> None:
        while self._waiting or self._running:
            while self._waiting and len(self._running) < PROCESSES:
                self._start(self._waiting.pop())
            process, status = os.wait()
            batch = self._running.pop(process, None)
            if batch is not None:  # otherwise it is the fork server
                self._finish(batch, os.waitstatus_to_exitcode(status))

    def _start(self, batch: Batch) -> None:
        batch.directory.mkdir()
        process = os.fork()
        if process == 0:
            run_in_child(batch, self._options)
        self._running[process] = batch

    def _finish(self, batch: Batch, code: int) -> None:
        self._codes.add(code)
        self._outcomes += outcomes_of(batch)
        if self._is_verbose or code not in (0, EMPTY):
            sys.stdout.write((batch.directory / "output").read_text("utf-8", "replace"))
        done = self._number - len(self._waiting) - len(self._running)
        print(f"[{done}/{self._number}] {self.summary}", flush=True)

    @property
    def summary(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in sorted(self._outcomes.items())) or "no tests"

    @property
    def exit_code(self) -> int:
        """Success if some tests passed and none failed; a process that was killed has a negative code."""
        if self._codes - {0, EMPTY}:
            return 1
        return 0 if 0 in self._codes else EMPTY


def run_in_child(batch: Batch, options: list[str]) -> NoReturn:
    code = 70
    try:
        output = os.open(batch.directory / "output", os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout = sys.stderr = TextIOWrapper(FileIO(1, "w"), "utf-8")
        tally = Tally()
        own = [*map(str, batch.files), f"--basetemp={batch.directory / 'temporary'}"]
        code = int(pytest.main([*own, *options], [tally]))
        (batch.directory / "result").write_text(json.dumps(tally.outcomes), "utf-8")
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        # Not `sys.exit`: what the parent registered for its exit is not for this process.
        os._exit(code)


def outcomes_of(batch: Batch) -> Counter[str]:
    try:
        return Counter(json.loads((batch.directory / "result").read_text("utf-8")))
    except FileNotFoundError:
        return Counter({"crashed": 1})


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
