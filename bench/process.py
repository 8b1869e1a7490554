"""Child processes that never outlive us, and what the kernel says about them."""

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
    """Start a child and kill it in the end, with all that it started."""
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
    """Processor time that a process has used in all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def rss_mb(pid: int) -> float:
    """Resident memory, in units of 10^6 bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise ProcessLookupError(f"process {pid} has no memory")


@contextmanager
def on_one_core(pid: int) -> Iterator[None]:
    """Keep us and a child on one core. Two parties that take turns never need more, and waking each
    other across cores costs a virtual machine more than any of the work that is measured."""
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
    """Wall time and the processor time of one process since it was made."""

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
def time_limit(seconds: float, what: str) -> Iterator[None]:
    """Interrupt whatever blocks the main thread; not to be nested."""

    def give_up(number: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"{what}: nothing within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def interrupt_on_termination() -> None:
    """Let a polite kill end us the way Ctrl-C does, so that children are killed."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
