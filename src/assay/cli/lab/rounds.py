"""One round after the other: play until something changes, then again, with what failed last in front."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Coroutine, Set
from pathlib import Path
from typing import Any, Final

from assay.cli.delivery import deliver
from assay.cli.output import emit
from assay.lab.harness.run.archive import Archive, CannotKeep
from assay.lab.harness.run.conclusion import headline
from assay.lab.harness.run.event import CellFinished, RunEvent, RunFinished, Watch
from assay.lab.harness.run.run import CellResult, Place, Run
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.verdict import Outcome
from assay.lab.report.registry import renderer

from .judging import Play, archive_at, baseline_of, for_eyes, not_kept, wanted_format, with_baseline
from .progress import progress

CLEAR: Final = "\033[2J\033[3J\033[H"
RETRY: Final = 1.0
"""Seconds until a subject that somebody else starts is looked for again."""
BAD: Final = frozenset({Outcome.FAILED, Outcome.INCOMPLETE})


class Rounds:
    def __init__(self, play: Play, options: argparse.Namespace) -> None:
        """
        Raises:
            CommandFailed: the options make no sense.
        """
        self._options = options
        self._play_all = play
        self._render = renderer(wanted_format(options.format))
        self._entries = baseline_of(options, play)
        self._archive()  # anew for every round: here only to hear of mistakes before the first one
        self._bad: set[Place] = set()
        self._counts = BAD | {Outcome.WARNED} if options.strict else BAD
        self._last: Archive | None = None
        """Where the last round is that came to its end: the only one that stays."""
        self._headline = ""
        """The last result in one line."""
        self._complaint = ""
        """Why the subject is not there, if it is not."""

    async def play_until(self, change: Callable[[], Coroutine[Any, Any, str]], what: str) -> str:
        """Play a round and wait for a change, which ends a round that is still going on."""
        judging = asyncio.create_task(self._play(what))
        changing = asyncio.create_task(change())
        try:
            await asyncio.wait({judging, changing}, return_when=asyncio.FIRST_COMPLETED)
            if not changing.done() and judging.exception() is None:
                await asyncio.wait({changing}, timeout=RETRY if self._returns_alone else None)
        finally:
            await _ended(judging)
            await _ended(changing)
        if not judging.cancelled():
            judging.result()  # a fault ends it all
        return "" if changing.cancelled() else changing.result()

    @property
    def _returns_alone(self) -> bool:
        """Whether the subject is gone, and started by somebody else."""
        return bool(self._complaint) and not self._play_all.restarts

    def _archive(self) -> Archive:
        return archive_at(self._options, self._play_all.suite.role)

    async def _play(self, what: str) -> None:
        archive = self._archive()
        self._begin(what)
        try:
            run = await self._judge(archive)
            if not run.interrupted:
                run = with_baseline(run, self._entries)
                self._finish(run, archive.finish(run), archive)
        except SubjectDown as down:
            self._complain(str(down))
        except CannotKeep as error:
            raise not_kept(error) from error
        finally:
            if archive is not self._last:
                archive.discard()

    async def _judge(self, archive: Archive) -> Run:
        with progress(sys.stderr, self._play_all.suite.role) as watch:
            noting = Noting(self._bad, self._counts, watch)
            return await self._play_all.run(noting.watch, archive, frozenset(self._bad))

    def _begin(self, what: str) -> None:
        if what:
            _clear()
            if self._headline:
                _say(f"last: {self._headline}")
            _say(f"changed: {what}")

    def _finish(self, run: Run, place: Path, archive: Archive) -> None:
        if self._last is not None:
            self._last.discard()
        self._last, self._headline, self._complaint = archive, headline(run), ""
        _clear()
        form = self._options.format
        if form == "text":
            emit(f"{self._headline}\n\n")
        deliver(self._render(for_eyes(run, place, form)), form, beside=place.parent)
        _say(f"stored: {place}")
        self._wait()

    def _complain(self, complaint: str) -> None:
        """Once is enough for a subject that stays away."""
        if complaint != self._complaint:
            self._complaint = complaint
            self._headline = complaint.partition("\n")[0]
            _say(complaint)
            self._wait()

    def _wait(self) -> None:
        _say(f"waiting for a change in {', '.join(map(str, self._options.watch))}; Ctrl-C ends")


class Noting:
    """Remembers what is bad, and tells how those fare that were bad before."""

    def __init__(self, bad: set[Place], counts: Set[Outcome], watch: Watch) -> None:
        """`counts` are the outcomes that are bad."""
        self._bad = bad
        self._counts = counts
        self._before = frozenset(bad)
        self._watch = watch
        self._again: list[CellResult] = []

    def watch(self, event: RunEvent) -> None:
        self._watch(event)
        match event:
            case CellFinished(result):
                self._note(result)
            case RunFinished():
                self._tell()

    def _note(self, result: CellResult) -> None:
        if result.place in self._before:
            self._again.append(result)
        else:
            self._tell()
        if result.outcome in self._counts:
            self._bad.add(result.place)
        elif result.attempt == 1:
            self._bad.discard(result.place)

    def _tell(self) -> None:
        if self._again:
            well = sum(result.outcome not in self._counts for result in self._again)
            _say(f"of {len(self._again)} that failed last, {well} pass now")
            self._again = []


async def _ended(task: asyncio.Task[Any]) -> None:
    """End it, and wait for what it does on the way out."""
    task.cancel()
    await asyncio.wait({task})


def _clear() -> None:
    if sys.stdout.isatty():
        sys.stdout.write(CLEAR)
        sys.stdout.flush()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
