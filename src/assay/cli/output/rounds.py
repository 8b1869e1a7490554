"""`--watch` on the terminal: each round replaces the one before."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from assay.cli.exit_code import ExitCode
from assay.lab.changes import Changes
from assay.lab.harness.run.conclusion import headline
from assay.lab.harness.run.event import Watch
from assay.lab.harness.scenario import Role
from assay.lab.live_run import LiveRun
from assay.lab.options import Place
from assay.lab.report.registry import renderer
from assay.lab.rounds import (
    FailuresReplayed,
    RoundEvent,
    RoundFinished,
    Rounds,
    RoundStarted,
    SubjectMissing,
)

from .progress import progress
from .run import on_signal, show_report
from .stream import emit_lines, say

CLEAR: Final = "\033[2J\033[3J\033[H"


async def show_rounds(
    follow: Callable[[frozenset[Place]], LiveRun],
    paths: Sequence[Path],
    *,
    output: Path,
    form: str,
    strict: bool,
) -> int:
    """Judge again after every change, until it is interrupted.

    Raises:
        LabError: the options cannot be used, or results cannot be stored.
    """
    renderer(form)
    changes = Changes(paths, output)
    role = follow(frozenset()).suite.role  # reports mistakes before anything is watched
    with RoundPrinter(paths, form, role) as printer:
        rounds = asyncio.create_task(Rounds(follow, changes, printer.show, strict=strict).run())
        on_signal(rounds.cancel)
        await asyncio.wait({rounds})
    if not rounds.cancelled():
        rounds.result()
    return ExitCode.INTERRUPTED


class RoundPrinter(ExitStack):
    def __init__(self, paths: Sequence[Path], form: str, role: Role) -> None:
        super().__init__()
        self._paths = ", ".join(map(str, paths))
        self._form = form
        self._role = role
        self._headline = ""
        """The last result in one line."""
        self._watch: Watch | None = None

    def show(self, event: RoundEvent) -> None:
        match event:
            case RoundStarted(changed):
                self._begin(changed)
            case RoundFinished(run, live):
                self.close()
                self._headline = headline(run)
                _clear()
                if self._form == "text":
                    emit_lines([self._headline, ""])
                show_report(run, live.path, self._form)
                self._wait()
            case SubjectMissing(error):
                self.close()
                self._headline = error.problem.partition("\n")[0]
                say(error.problem)
                self._wait()
            case FailuresReplayed(count, passed):
                say(f"of {count} that failed last, {passed} pass now")
            case _ if self._watch is not None:
                self._watch(event)

    def _begin(self, changed: str) -> None:
        self.close()
        if changed:
            _clear()
            if self._headline:
                say(f"last: {self._headline}")
            say(f"changed: {changed}")
        self._watch = self.enter_context(progress(sys.stderr, self._role))

    def _wait(self) -> None:
        say(f"waiting for a change in {self._paths}; Ctrl-C ends")


def _clear() -> None:
    if sys.stdout.isatty():
        sys.stdout.write(CLEAR)
        sys.stdout.flush()
