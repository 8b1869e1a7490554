"""Run the tests on all cores: `make test`.

One process collects all tests, and then forks workers, each of which runs one test file after another. So
everything is imported and collected once. pytest-xdist would do that in each of its processes, and send
messages for each test: a third of the CPU time of many thousand quick tests.

Arguments are those of pytest, and `--dearest N`, which lists the N test files that take most CPU time.
"""

from __future__ import annotations

import gc
import os
import pickle
import random
import resource
import selectors
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import pytest
from _pytest.runner import runtestprotocol

from tests.driving.warm_python import processor_times, warm_python

TESTS: Final = Path(__file__).parents[1] / "tests"
APART: Final = (TESTS / "meta", TESTS / "system")
"""`make check` and `make system` run these."""
PROCESSES: Final = 2 * (os.cpu_count() or 1)
"""More than cores: many tests wait for processes that they started."""
BESIDE: Final = os.cpu_count() or 1
"""Further processes, for files that do little but wait (`pytestmark = pytest.mark.waits`)."""
OPTIONS: Final = ("-q", "-p", "no:cacheprovider", *(f"--ignore={folder}" for folder in APART))
SEED: Final = "--randomly-seed="
DEAREST: Final = "list the test files that take most CPU time"
CRASHED: Final = "the process that ran {} ended with status {}: the outcome of its tests is lost"


def main(arguments: list[str]) -> int:
    # Shells start background jobs with interrupts ignored, which tests of interrupts would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warm_python()  # all workers share its fork server
    seed = next((argument for argument in arguments if argument.startswith(SEED)), f"{SEED}{new_seed()}")
    gc.disable()  # nothing that is imported or collected is garbage
    with tempfile.TemporaryDirectory(prefix="assay-tests-", ignore_cleanup_errors=True) as directory:
        code = pytest.main([*OPTIONS, seed, *arguments], [Distribution(Path(directory))])
    print(f"to repeat the order: {seed}")
    return int(code)


def new_seed() -> int:
    return random.SystemRandom().randrange(2**32)


class Worker(NamedTuple):
    process: int
    connection: socket.socket
    beside: bool
    """Whether it only runs files that mostly wait."""


@dataclass
class TestFile:
    path: str
    """As it is in the ids of its tests."""
    items: list[pytest.Item]

    @property
    def is_long(self) -> bool:
        return any(self.items[0].iter_markers("long"))

    @property
    def waits(self) -> bool:
        return any(self.items[0].iter_markers("waits"))


class Outcome(NamedTuple):
    """What a worker reports of a file that it ran."""

    reports: list[Any]
    seconds: float
    processor_seconds: float


class Distribution:
    """A plugin of pytest that has workers run the collected tests, and reports their results."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._selector = selectors.DefaultSelector()
        self._running: dict[Worker, TestFile] = {}
        self._started = 0
        self._outcomes: dict[str, Outcome] = {}

    def pytest_addoption(self, parser: pytest.Parser) -> None:
        parser.addoption("--dearest", type=int, default=0, metavar="N", help=DEAREST)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if count := terminalreporter.config.option.dearest:
            for line in dearest(self._outcomes, count, processor_times()):
                terminalreporter.write_line(line)

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or session.config.option.collectonly or not session.items:
            return None  # there is nothing to distribute
        prepare_hypothesis()
        gc.enable()
        waiting = in_order(session.items)
        try:
            beside = min(BESIDE, sum(file.waits for file in waiting))
            for number in range(min(PROCESSES + beside, len(waiting))):
                self._start(session, beside=number < beside)
            for worker in self._idle(session):
                if session.shouldfail or session.shouldstop:
                    raise session.Failed(session.shouldfail or session.shouldstop)
                if file := next_for(worker, waiting):
                    self._assign(worker, file)
                elif not waiting and not self._running:
                    break
        finally:
            self._end()
        return True

    def _start(self, session: pytest.Session, *, beside: bool) -> None:
        ours, theirs = socket.socketpair()
        self._started += 1
        directory = self._directory / str(self._started)
        directory.mkdir()
        process = os.fork()
        if process == 0:
            self._close()
            ours.close()
            work(session, theirs, directory)
        theirs.close()
        self._selector.register(ours, selectors.EVENT_READ, Worker(process, ours, beside))

    def _idle(self, session: pytest.Session) -> Iterator[Worker]:
        """Each worker as soon as it has nothing to do."""
        while True:
            for key, _ in self._selector.select():
                worker: Worker = key.data
                data = received(worker.connection)
                if data is None:
                    self._replace(session, worker)
                    continue
                outcome: Outcome = pickle.loads(data)
                if file := self._running.pop(worker, None):
                    self._outcomes[file.path] = outcome
                for content in outcome.reports:
                    log(session, report_of(session, content))
                yield worker

    def _assign(self, worker: Worker, file: TestFile) -> None:
        self._running[worker] = file
        send(worker.connection, pickle.dumps(file.path))

    def _replace(self, session: pytest.Session, worker: Worker) -> None:
        """A worker has ended in the midst of a file."""
        self._selector.unregister(worker.connection)
        worker.connection.close()
        status = os.waitstatus_to_exitcode(os.waitpid(worker.process, 0)[1])
        path = self._running.pop(worker).path
        reason = CRASHED.format(path, status)
        log(session, pytest.TestReport(path, (path, None, path), {}, "failed", reason, "call"))
        self._start(session, beside=worker.beside)

    def _end(self) -> None:
        workers = [key.data for key in self._selector.get_map().values()]
        for worker in workers:
            if worker in self._running:
                os.kill(worker.process, signal.SIGKILL)
        self._close()
        for worker in workers:
            os.waitpid(worker.process, 0)

    def _close(self) -> None:
        for key in list(self._selector.get_map().values()):
            key.data.connection.close()
        self._selector.close()


def in_order(items: list[pytest.Item]) -> list[TestFile]:
    """The files; those that take long first, so that no worker is left with one of them at the end, and those
    that wait last."""
    files: dict[str, TestFile] = {}
    for item in items:
        path = item.nodeid.partition("::")[0]
        files.setdefault(path, TestFile(path, [])).items.append(item)
    return sorted(files.values(), key=lambda file: (file.waits, not file.is_long))


def next_for(worker: Worker, waiting: list[TestFile]) -> TestFile | None:
    """Taken from the files that wait for a process."""
    if not worker.beside:
        return waiting.pop(0) if waiting else None
    first = next((number for number, file in enumerate(waiting) if file.waits), None)
    return None if first is None else waiting.pop(first)


def prepare_hypothesis() -> None:
    """Load what hypothesis knows of Unicode and of our constants, which each worker would otherwise do."""
    from hypothesis import given, settings  # its plugin must be loaded by pytest
    from hypothesis import strategies as st

    @settings(max_examples=1, database=None, deadline=None)
    @given(st.tuples(st.text(), st.binary(), st.integers(), st.floats()))
    def draw(_values: object) -> None:
        pass

    draw()


def log(session: pytest.Session, report: pytest.TestReport) -> None:
    session.config.hook.pytest_runtest_logreport(report=report)


def report_of(session: pytest.Session, content: dict[str, Any]) -> pytest.TestReport:
    report = session.config.hook.pytest_report_from_serializable(config=session.config, data=content)
    assert isinstance(report, pytest.TestReport)
    return report


def send(connection: socket.socket, data: bytes) -> None:
    connection.sendall(len(data).to_bytes(8, "big") + data)


def received(connection: socket.socket) -> bytes | None:
    """The next message; None if the process at the other side has ended."""
    with suppress(ConnectionError):
        head = connection.recv(8, socket.MSG_WAITALL)
        size = int.from_bytes(head, "big")
        data = connection.recv(size, socket.MSG_WAITALL) if size else b""
        if len(head) == 8 and len(data) == size:
            return data
    return None


class Reports:
    """A plugin of pytest that runs a test and keeps its reports, instead of having them printed."""

    def __init__(self) -> None:
        self._reports: list[pytest.TestReport] = []

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        self._reports += runtestprotocol(item, log=False, nextitem=nextitem)
        return True

    def taken(self) -> list[pytest.TestReport]:
        """The reports that pytest counts."""
        reports, self._reports = self._reports, []
        return [report for report in reports if report.when == "call" or not report.passed]


def work(session: pytest.Session, connection: socket.socket, directory: Path) -> NoReturn:
    """Run the files that are asked for, until there are no more."""
    code = 70
    try:
        own_state(session.config, directory)
        files = {file.path: file for file in in_order(session.items)}
        reports = Reports()
        session.config.pluginmanager.register(reports)
        send(connection, pickle.dumps(Outcome([], 0, 0)))
        while path := received(connection):
            begin, processor_begin = time.monotonic(), processor_seconds()
            run_file(files[pickle.loads(path)], session.config)
            contents = [serialized(report, session.config) for report in reports.taken()]
            spent = time.monotonic() - begin, processor_seconds() - processor_begin
            send(connection, pickle.dumps(Outcome(contents, *spent)))
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        # Not `sys.exit`: what the parent registered for its exit is not for this process.
        os._exit(code)


def own_state(config: pytest.Config, directory: Path) -> None:
    """What workers must not share: the file that catches output, and the directory for temporary files."""
    capture = config.pluginmanager.getplugin("capturemanager")
    assert capture is not None
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture(in_=True)
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(directory)


def run_file(file: TestFile, config: pytest.Config) -> None:
    for item, following in zip(file.items, [*file.items[1:], None], strict=True):
        config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def processor_seconds() -> float:
    """CPU time of this process and of those that it has started and waited for."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def dearest(outcomes: dict[str, Outcome], count: int, forked: Mapping[str, float]) -> list[str]:
    """The files that took most CPU time, with that of the processes that the fork server started for them."""
    times = {path: each.processor_seconds + forked.get(path, 0) for path, each in outcomes.items()}
    first = sorted(times, key=lambda path: -times[path])[:count]
    lines = [f"{times[path]:8.2f} {outcomes[path].seconds:8.2f}  {path}" for path in first]
    share = sum(seconds for path, seconds in forked.items() if path in outcomes)
    total = f"{sum(times.values()):8.2f} {'':8}  all files, {share:.2f} of it in processes of the fork server"
    return ["   CPU s   wall s", *lines, total]


def serialized(report: pytest.TestReport, config: pytest.Config) -> Any:
    return config.hook.pytest_report_to_serializable(config=config, report=report)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
