"""What the processes of a server use: memory, CPU time and descriptors, from /proc."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from msgspec import Struct

from assay.lab.harness.subject.process_tree import PROC, process_tree, resident_of

from .result import ServerUsage, UsageSample

_LISTENING: Final = "0A"
_TICKS: Final = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
MOST_SAMPLES: Final = 240
WARM_UP: Final = 0.25
"""The fraction of samples without a slope: caches are still filled."""
LEAST_SAMPLES: Final = 12
_SOCKET: Final = re.compile(r"socket:\[(\d+)\]")
MOST_PROCESSES: Final = 4096
"""That are searched for a listening socket."""


class Usage(Struct, frozen=True):
    processes: int
    rss: int
    cpu: float
    """Seconds so far."""
    fds: int | None


def usage_of(roots: Sequence[int], proc: Path = PROC) -> Usage | None:
    """Of these processes and their descendants; None if the kernel does not report it."""
    members = [number for root in roots for number in process_tree(root, proc)]
    rss, cpu, alive = 0, 0.0, 0
    fds: int | None = 0
    for number in members:
        home = proc / str(number)
        try:
            rss += resident_of(home)
            cpu += _cpu(home)
            alive += 1
        except (OSError, ValueError, IndexError):
            continue
        try:
            fds = None if fds is None else fds + len(os.listdir(home / "fd"))
        except OSError:
            fds = None
    return Usage(alive, rss, cpu, fds) if alive else None


def _cpu(home: Path) -> float:
    # The name in parentheses may contain spaces.
    fields = (home / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def listener_of(port: int, proc: Path = PROC) -> int | None:
    """The process that listens on a port of this machine; None if it is not visible."""
    sockets = {inode for name in ("tcp", "tcp6") for inode in _listening(proc / "net" / name, port)}
    if not sockets:
        return None
    numbers = sorted(int(each.name) for each in proc.iterdir() if each.name.isdecimal())
    for number in numbers[:MOST_PROCESSES]:
        if any(inode in sockets for inode in _sockets(proc / str(number) / "fd")):
            return number
    return None


def _listening(table: Path, port: int) -> Iterator[str]:
    try:
        lines = table.read_text().splitlines()[1:]
    except OSError:
        return
    for line in lines:
        fields = line.split()
        if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
            yield fields[9]


def _sockets(descriptors: Path) -> Iterator[str]:
    try:
        names = os.listdir(descriptors)
    except OSError:
        return
    for name in names:
        try:
            match = _SOCKET.fullmatch(os.readlink(descriptors / name))
        except OSError:
            continue
        if match:
            yield match[1]


class UsageWatch:
    """Samples over a run. When there are too many, every second is dropped, and fewer are taken."""

    def __init__(self) -> None:
        self.samples: list[UsageSample] = []
        self._first: tuple[float, float] | None = None
        self._last: tuple[float, float] | None = None
        self._processes = 0
        self._skip = 1
        self._calls = 0

    def add(self, t: float, usage: Usage, operations: int) -> None:
        self._calls += 1
        self._processes = max(self._processes, usage.processes)
        self._first = self._first or (t, usage.cpu)
        previous = self._last or self._first
        if (self._calls - 1) % self._skip:
            return
        share = (usage.cpu - previous[1]) / (t - previous[0]) if t > previous[0] else 0.0
        self._last = (t, usage.cpu)
        self.samples.append(UsageSample(t, usage.rss, max(share, 0.0), usage.fds, operations))
        if len(self.samples) > MOST_SAMPLES:
            self.samples = self.samples[::2]
            self._skip *= 2

    def result(self, operations: int) -> ServerUsage | None:
        if not self.samples or self._first is None or self._last is None:
            return None
        seconds = self._last[0] - self._first[0]
        cpu = max(self._last[1] - self._first[1], 0.0)
        fds = [sample.fds for sample in self.samples if sample.fds is not None]
        return ServerUsage(
            processes=self._processes,
            rss_max=max(sample.rss for sample in self.samples),
            fds_max=max(fds) if fds else None,
            cpu_share=cpu / seconds if seconds > 0 else 0.0,
            cpu_us=cpu * 1e6 / operations if operations else None,
            leak=slope([(sample.operations, sample.rss) for sample in self.samples]),
            fd_leak=slope([(each.operations, each.fds) for each in self.samples if each.fds is not None]),
            samples=self.samples,
        )


def slope(points: Sequence[tuple[float, float]]) -> float | None:
    """The growth for each unit of the first coordinate, after the warm-up: the median of all slopes between
    two points, which a single peak does not move (Theil and Sen). None if there are too few points."""
    warm = points[int(len(points) * WARM_UP) :]
    if len(warm) < LEAST_SAMPLES:
        return None
    slopes = [
        (later[1] - earlier[1]) / (later[0] - earlier[0])
        for place, earlier in enumerate(warm)
        for later in warm[place + 1 :]
        if later[0] > earlier[0]
    ]
    return median(slopes) if slopes else None
