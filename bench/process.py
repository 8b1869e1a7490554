"""Child processes that are always killed in the end, and their CPU time and memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, Any, Final

TICKS: Final = os.sysconf("SC_CLK_TCK")


@contextmanager
def running(
    command: Sequence[str], log: IO[bytes], *, pipes: bool = False, keep: tuple[int, ...] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a child process, and kill it and its descendants in the end."""
    pipe = subprocess.PIPE if pipes else subprocess.DEVNULL
    child = subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=log,
        bufsize=0,
        pass_fds=keep,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        kill(child)


def kill(child: subprocess.Popen[Any]) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            stream.close()


def cpu_seconds(pid: int) -> float:
    """CPU time of a process, in all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def rss_mb(pid: int) -> float:
    """Resident memory, in units of 10^6 bytes."""
    return _memory_mb(pid, "VmRSS:")


def peak_rss_mb(pid: int) -> float:
    """The most resident memory since `reset_peak`."""
    return _memory_mb(pid, "VmHWM:")


def reset_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _memory_mb(pid: int, field: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024 / 1e6
    raise ProcessLookupError(f"process {pid} reports no memory")


@contextmanager
def on_one_core(pid: int) -> Iterator[None]:
    """Pin this process and a child to one core. A client and a server that take turns need no more, and
    waking each other across cores costs more on a virtual machine than the work that is measured."""
    before = os.sched_getaffinity(0)
    core = {max(before)}
    os.sched_setaffinity(0, core)
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(thread), core)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Stopwatch:
    """Measures wall-clock time and the CPU time of one process since it was created."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._cpu = cpu_seconds(pid)
        self._begin = time.perf_counter()

    def cpu_share(self) -> float:
        spent = cpu_seconds(self._pid) - self._cpu
        return spent / (time.perf_counter() - self._begin)


class TookTooLong(Exception):
    """A subject did not answer in time."""


@contextmanager
def time_limit(seconds: float, title: str) -> Iterator[None]:
    """Interrupt the main thread after so many seconds. Must not be nested."""

    def give_up(number: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"{title}: no answer within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def interrupt_on_termination() -> None:
    """Handle SIGTERM and SIGHUP like Ctrl-C, so that children are killed."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)


def print_status(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
