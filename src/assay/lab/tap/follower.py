"""Follows the traces of a tap while they grow, judges them, and stores the judgement.

The files are the queue: its length is bounded by what the tap keeps, and how far the judgement is behind is
the number of frames that it has not read.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.harness.run.archive import RUN_FILE, TRACE
from assay.lab.harness.run.run import CellResult, dump_run
from assay.lab.harness.trace.file import BadTrace, read_trace
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Finding, Verdict

from .judgement import judged_cells, run_of
from .view import ENDED, is_tapped, settled

PIECE: Final = 1024 * 1024
SHARE: Final = 4.0
"""After a judgement, a growing trace rests so many times as long as it took."""
MOST_FINDINGS: Final = 1000
MOST_LATENCIES: Final = 10_000
LONGEST: Final = 300
_TIMED: Final = frozenset({Kind.LINE, Kind.TEXT, Kind.REQUEST})


class SeenFinding(Struct, frozen=True, omit_defaults=True):
    """A finding, as the live view shows it: once, however often it is seen."""

    side: str
    requirement: str
    level: str
    title: str
    observed: str
    trace: str
    frame: int = 0
    fix: str = ""


class Status(Struct, frozen=True, omit_defaults=True):
    """What is known so far; one line of JSON for the process that shows it."""

    frames: int = 0
    judged: int = 0
    conversations: int = 0
    exchanges: int = 0
    p50: float = 0.0
    p99: float = 0.0
    new: list[SeenFinding] = []
    failures: int = 0
    warnings: int = 0
    problem: str = ""
    done: bool = False

    @property
    def lag(self) -> int:
        """Frames that are recorded and not judged."""
        return max(self.frames - self.judged, 0)


class _File:
    """One trace that grows. Its frames are only in memory while it is judged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self.judged = 0
        self.ended = False
        self.cells: list[CellResult] = []
        self.rest_until = 0.0
        self._offset = 0
        self._lines = 0

    @property
    def lag(self) -> int:
        return self.count - self.judged

    def look(self) -> int:
        """Count the frames that were added.

        Raises:
            OSError: the file is gone.
        """
        before = self.count
        with self.path.open("rb") as stream:
            stream.seek(self._offset)
            while data := stream.read(PIECE):
                self._offset += len(data)
                self._lines += data.count(b"\n")
        self.count = max(self._lines - 1, 0)  # the first line is the header
        return self.count - before

    def trace(self) -> Trace:
        """
        Raises:
            OSError: the file is gone.
            BadTrace: not written by a tap.
        """
        return read_trace(self.path)


class Follower:
    def __init__(self, directory: Path, started: str = "") -> None:
        self._directory = directory
        self._started = started
        self._files: dict[str, _File] = {}
        self._subjects: set[tuple[str, str]] = set()
        self._reported: set[tuple[str, str, str]] = set()
        self._new: list[SeenFinding] = []
        self._counts = {Verdict.FAILURE: 0, Verdict.WARNING: 0}
        self._latencies: deque[float] = deque(maxlen=MOST_LATENCIES)
        self._exchanges = 0
        self._is_changed = False
        self._frames = 0
        self._judged = 0
        self.problem = ""

    def step(self, *, finish: bool = False) -> Status:
        """Read what is new and judge one trace that is due, or with `finish` all."""
        self._look()
        due = [file for file in self._files.values() if file.lag]
        due.sort(key=lambda file: file.rest_until)
        for file in due if finish else due[:1]:
            if finish or time.monotonic() >= file.rest_until:
                self._judge(file)
        if self._is_changed:
            self._store()
        return self._status(done=finish)

    def _look(self) -> None:
        present = {path.name: path for path in self._directory.glob(f"*{TRACE}")}
        for name in [name for name in self._files if name not in present]:
            self._judged += self._files.pop(name).lag  # removed to make room: it will not be judged
            self._is_changed = True
        for name, path in present.items():
            file = self._files.setdefault(name, _File(path))
            if not file.ended:
                with contextlib.suppress(OSError):  # it was removed just now
                    self._frames += file.look()

    def _judge(self, file: _File) -> None:
        begin = time.monotonic()
        try:
            trace = file.trace()
        except (OSError, BadTrace) as error:
            self._skip(file, f"{file.path.name}: {error}" if file.path.exists() else "")
            return
        if is_tapped(trace):
            file.cells = judged_cells(file.path.name, trace)
            known = settled(trace)
            self._subjects.add((known.header.subject, known.transport))
            self._time(known, file.judged)
            for cell in file.cells:
                self._report(cell, file.path.name)
        self._frames += max(len(trace.frames) - file.count, 0)
        file.count = max(file.count, len(trace.frames))
        file.ended = any(trace.marks(ENDED))
        self._skip(file, "")
        file.rest_until = time.monotonic() + SHARE * (time.monotonic() - begin)

    def _skip(self, file: _File, problem: str) -> None:
        self._judged += file.lag
        file.judged = file.count
        self.problem = problem or self.problem
        self._is_changed = True

    def _time(self, trace: Trace, since: int) -> None:
        for exchange in (*trace.all_exchanges, *trace.all_subject_exchanges):
            answer = exchange.answer
            if answer is not None and answer.frame.n >= since and exchange.request.frame.kind in _TIMED:
                self._exchanges += 1
                self._latencies.append(answer.frame.t - exchange.request.frame.t)

    def _report(self, cell: CellResult, name: str) -> None:
        for finding, verdict in _findings(cell):
            key = (cell.area, finding.requirement, finding.title)
            if key in self._reported or len(self._reported) >= MOST_FINDINGS:
                continue
            self._reported.add(key)
            self._counts[verdict] += 1
            self._new.append(
                SeenFinding(
                    side=cell.area.removesuffix("s"),
                    requirement=finding.requirement,
                    level=finding.level,
                    title=finding.title or finding.statement,
                    observed=finding.observed[:LONGEST],
                    trace=name,
                    frame=finding.frames[0] if finding.frames else 0,
                    fix=finding.fix,
                )
            )

    def _store(self) -> None:
        """Replace the stored run in one step: it may be read at any time."""
        names = sorted(self._files, key=_order)
        run = run_of(
            [cell for name in names for cell in self._files[name].cells], self._subjects, self._started
        )
        path = self._directory / RUN_FILE
        beside = path.with_suffix(".json.new")
        try:
            beside.write_bytes(dump_run(run))
            os.replace(beside, path)
        except OSError as error:
            self.problem = f"cannot store {path}: {error.strerror}"
        self._is_changed = False

    def _status(self, *, done: bool) -> Status:
        new, self._new = self._new, []
        times = sorted(self._latencies)
        return Status(
            frames=self._frames,
            judged=self._judged,
            conversations=len(self._files),
            exchanges=self._exchanges,
            p50=_percentile(times, 0.5),
            p99=_percentile(times, 0.99),
            new=new,
            failures=self._counts[Verdict.FAILURE],
            warnings=self._counts[Verdict.WARNING],
            problem=self.problem,
            done=done,
        )


def _findings(cell: CellResult) -> Iterator[tuple[Finding, Verdict]]:
    for check in cell.checks:
        if check.verdict in (Verdict.FAILURE, Verdict.WARNING):
            for finding in check.findings:
                if not finding.follows_from:
                    binding = finding.level.startswith(("MUST", "implied MUST"))
                    yield finding, Verdict.FAILURE if binding else Verdict.WARNING


def _order(name: str) -> list[Any]:
    """`tap-2-http` before `tap-10-http`."""
    number = name.removeprefix("tap-").partition("-")[0]
    return [int(part) if part.isdecimal() else 0 for part in number.split(".")]


def _percentile(times: list[float], share: float) -> float:
    return round(times[int(len(times) * share)], 6) if times else 0.0


def encode_status(status: Status) -> bytes:
    return msgspec.json.encode(status) + b"\n"
