"""`--watch`: judge, wait for a change, judge again, with the scenarios that failed last in front."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Set
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.run.event import CellFinished, RunEvent, RunFinished
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.verdict import Outcome

from .changes import Changes
from .error import CannotJudge, Interrupted, LabError, SubjectNotStarted
from .live_run import LiveRun
from .options import Place

RETRY: Final = 1.0
"""Seconds between two attempts to reach a subject that somebody else starts."""
BAD: Final = frozenset({Outcome.FAILED, Outcome.INCOMPLETE})


class RoundStarted(Struct, frozen=True):
    changed: str
    """The files that changed; empty for the first round, and for an attempt to reach a missing subject."""


class RoundFinished(Struct, frozen=True):
    run: Run
    live: LiveRun


class SubjectMissing(Struct, frozen=True):
    error: LabError


class FailuresReplayed(Struct, frozen=True):
    """The scenario runs that failed last have all been repeated."""

    count: int
    passed: int


RoundEvent = RoundStarted | RunEvent | FailuresReplayed | RoundFinished | SubjectMissing


class Rounds:
    def __init__(
        self,
        follow: Callable[[frozenset[Place]], LiveRun],
        changes: Changes,
        show: Callable[[RoundEvent], None],
        *,
        strict: bool = False,
    ) -> None:
        """`follow` begins a run, given what goes first."""
        self._follow = follow
        self._changes = changes
        self._show = show
        self._failures: set[Place] = set()
        self._bad = BAD | {Outcome.WARNED} if strict else BAD
        self._live: LiveRun | None = None
        self._last: LiveRun | None = None
        """The last complete run: the only one that stays stored."""
        self._missing = ""
        """Why the subject is not there, if it is not."""
        self._restarts = True

    async def run(self) -> None:
        """Never returns: ends by cancellation.

        Raises:
            LabError: results cannot be stored, or files cannot be watched.
        """
        changed = ""
        try:
            async with asyncio.TaskGroup() as group:
                self._changes.follow(group)
                while True:
                    self._changes.forget()
                    changed = await self._round(changed)
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors  # the first ends it all

    async def _round(self, changed: str) -> str:
        """Judge, and wait for a change. A change ends a run that is still in progress."""
        judging = asyncio.create_task(self._judge(changed))
        changing = asyncio.create_task(self._changes.next())
        try:
            await asyncio.wait({judging, changing}, return_when=asyncio.FIRST_COMPLETED)
            if not judging.done():
                await self._interrupt(judging)
            elif not changing.done() and judging.exception() is None:
                retries = bool(self._missing) and not self._restarts
                await asyncio.wait({changing}, timeout=RETRY if retries else None)
        finally:
            await _cancelled(judging)
            await _cancelled(changing)
        if not judging.cancelled():
            judging.result()
        return "" if changing.cancelled() else changing.result()

    async def _interrupt(self, judging: asyncio.Task[None]) -> None:
        """End the run in order: what is known of it is shown."""
        if self._live is not None:
            self._live.interrupt()
        await asyncio.wait({judging})

    async def _judge(self, changed: str) -> None:
        live = self._live = self._follow(frozenset(self._failures))
        self._restarts = live.restarts
        self._show(RoundStarted(changed))
        try:
            async with live:
                replay = Replay(self._failures, self._bad, self._show)
                async for event in live:
                    self._show(event)
                    replay.take(event)
            if not live.result.interrupted:
                self._finish(live)
        except Interrupted:
            pass
        except (SubjectNotStarted, CannotJudge) as error:
            if error.problem != self._missing:  # a subject that stays away is reported once
                self._missing = error.problem
                self._show(SubjectMissing(error))
        finally:
            if live is not self._last:
                live.discard()

    def _finish(self, live: LiveRun) -> None:
        if self._last is not None:
            self._last.discard()
        self._last, self._missing = live, ""
        self._show(RoundFinished(live.result, live))


class Replay:
    """Keeps the set of failures, and reports how many of the earlier ones pass."""

    def __init__(self, failures: set[Place], bad: Set[Outcome], show: Callable[[RoundEvent], None]) -> None:
        self._failures = failures
        self._bad = bad
        self._show = show
        self._before = frozenset(failures)
        self._again: list[CellResult] = []

    def take(self, event: RunEvent) -> None:
        match event:
            case CellFinished(result):
                self._note(result)
            case RunFinished():
                self._report()

    def _note(self, result: CellResult) -> None:
        if result.place in self._before:
            self._again.append(result)
        else:
            self._report()
        if result.outcome in self._bad:
            self._failures.add(result.place)
        elif result.attempt == 1:
            self._failures.discard(result.place)

    def _report(self) -> None:
        if self._again:
            passed = sum(result.outcome not in self._bad for result in self._again)
            self._show(FailuresReplayed(len(self._again), passed))
            self._again = []


async def _cancelled(task: asyncio.Task[Any]) -> None:
    """Cancel it, and wait until it has ended."""
    task.cancel()
    await asyncio.wait({task})
