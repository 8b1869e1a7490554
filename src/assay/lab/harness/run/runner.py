"""A whole run: start the subjects, get to know them, play every scenario, judge, tell whoever watches."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.links.broken_off import BrokenOff, Unreachable
from assay.lab.harness.reason import Reason, ReasonKind, stored
from assay.lab.harness.subject.access import Access
from assay.lab.harness.subject.discovery import DISCOVERY, discover
from assay.lab.harness.subject.facts import Facts, Refusal
from assay.lab.harness.subject.process_pool import ProcessPool
from assay.lab.harness.subject.subject import Subject
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Outcome, Verdict
from assay.model.version import VERSION
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

from .event import CellFinished, CellsPlanned, CellStarted, RunFinished, RunStarted, SubjectKnown, Watch
from .plan import Cell, Selection, plan
from .recording import Conditions, Recording, all_of, interrupted, judge, now, play, play_cell
from .run import FORMAT, CellResult, Run, SubjectRecord

Keep = Callable[[CellResult, Trace], CellResult]
"""Stores a trace; returns the result with the place of its trace filled in."""


class RunOrder(Struct, frozen=True):
    """All that a run needs to know besides its subjects."""

    suite: Suite
    selection: Selection = Selection()
    conditions: Conditions = Conditions()
    jobs: int = 1
    repeat: int = 1
    strict: bool = False
    shared: bool = True
    """Whether a process on stdio may serve several scenarios; see `spare.py`."""


class SubjectDown(Exception):
    """A subject is not there, or does not start: nothing was judged."""

    def __init__(self, subject: str, reason: BrokenOff) -> None:
        super().__init__(subject, reason)
        self.subject = subject
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.subject}: {self.reason}"


class Runner:
    """Traces are handed over as they come (`keep`), so that none has to be held until the end."""

    def __init__(self, order: RunOrder, subjects: Sequence[Subject], watch: Watch, keep: Keep) -> None:
        self._order = order
        self._given = tuple(subjects)
        self._subjects: dict[Transport, Subject] = {}
        """Those that have started: only then is it certain what each speaks over."""
        self._watch = watch
        self._keep = keep
        self._records: list[SubjectRecord] = []
        self._results: dict[int, CellResult] = {}
        self._told = 0
        self._discovered: list[CellResult] = []
        self._spares = ProcessPool() if order.shared else None
        self._gate = asyncio.Semaphore(max(1, order.jobs))
        self._access = Access()

    async def run(self) -> Run:
        """
        Raises:
            SubjectDown: nothing can be judged.
            CheckFailed: a check is broken.
        """
        started, begin = now(), time.monotonic()
        self._watch(RunStarted([self._shown(subject) for subject in self._given]))
        cells: list[Cell] = []
        stopped = False
        try:
            await self._start()
            cells = await self._plan()
            self._watch(CellsPlanned(len(cells)))
            await all_of(self._play(place, cell) for place, cell in enumerate(cells))
        except asyncio.CancelledError:
            stopped = True  # Ctrl-C: what is known is kept and told
        finally:
            await to_the_end(self._stop())
        results = self._discovered + [
            self._results.get(place) or interrupted(cell) for place, cell in enumerate(cells)
        ]
        run = Run(
            format=FORMAT,
            assay=VERSION,
            started=started,
            seconds=round(time.monotonic() - begin, 3),
            subjects=self._records,
            cells=results,
            suite=self._order.suite.name,
            strict=self._order.strict,
            interrupted=stopped,
            problem="" if cells or stopped else self._problem(),
        )
        self._watch(RunFinished(run))
        return run

    async def _start(self) -> None:
        for subject in self._given:
            try:
                await subject.start()
            except Unreachable as reason:
                raise SubjectDown(self._shown(subject), reason) from reason
            self._subjects[subject.transport] = subject

    async def _stop(self) -> None:
        if self._spares is not None:
            await self._spares.close()
        await asyncio.gather(*(subject.stop() for subject in self._given))

    async def _plan(self) -> list[Cell]:
        known: dict[Transport, Mapping[Revision, Facts]] = {}
        for transport, subject in self._subjects.items():
            known[transport] = await self._discover(subject, self._wanted(transport))
        return plan(self._order.suite, known, self._order.selection, self._order.repeat)

    def _shown(self, subject: Subject) -> str:
        """Its name: a URL may hold a key."""
        return self._order.conditions.redaction.words(subject.name)

    def _wanted(self, transport: Transport) -> Sequence[Revision]:
        wanted = self._order.selection.revisions or REVISIONS
        # HTTP+SSE is a transport of the first revision, and was replaced by the second.
        return [one for one in wanted if transport is not Transport.HTTP_SSE or one is REVISIONS[0]]

    async def _discover(self, subject: Subject, wanted: Sequence[Revision]) -> dict[Revision, Facts]:
        played = await asyncio.gather(*(self._meet(subject, revision) for revision in wanted))
        record = SubjectRecord(self._shown(subject), subject.transport)
        spoken: dict[Revision, Facts] = {}
        for revision, one in zip(wanted, played, strict=True):
            if isinstance(one.value, Facts):
                spoken[revision] = one.value
                record.facts.append(one.value)
            else:
                record.refused.append(_refusal(revision, one))
        self._records.append(record)
        if record.refused and all(refusal.unanswered for refusal in record.refused) and not spoken:
            raise SubjectDown(self._shown(subject), _first_reason(played))
        self._watch(SubjectKnown(record))
        return spoken

    async def _meet(self, subject: Subject, revision: Revision) -> Recording:
        async with self._gate:
            nothing = Facts(revision.date)
            conditions = self._order.conditions
            played = await play(DISCOVERY, subject, revision, discover, nothing, conditions)
        self._judge_meeting(subject, revision, played)
        return played

    def _judge_meeting(self, subject: Subject, revision: Revision, played: Recording) -> None:
        """Where the subject speaks the revision, or tried to, its first words are judged like all others."""
        suite = self._order.suite
        if not _opened(played):
            return
        checks = judge(suite, [one for one in suite.checks.values() if one.everywhere], played.trace)
        broken = Verdict.FAILURE in {check.verdict for check in checks}
        reason = Reason(ReasonKind.BROKE_OFF, str(played.broken)) if played.broken else None
        if not broken and played.broken is None:
            return
        result = CellResult(
            scenario=DISCOVERY,
            title="Getting to know the server",
            transport=subject.transport,
            revision=revision.date,
            outcome=Outcome.FAILED if broken else Outcome.INCOMPLETE,
            started=played.started,
            seconds=round(played.seconds, 4),
            **stored(reason),
            broke_off=played.broken is not None,
            checks=checks,
            area=DISCOVERY,
        )
        self._discovered.append(self._keep(result, played.trace))

    async def _play(self, place: int, cell: Cell) -> None:
        async with self._gate, self._room(cell):
            self._watch(CellStarted(cell.scenario.id, cell.transport, cell.revision.date))
            subject = self._subjects[cell.transport]
            result, trace = await play_cell(
                cell, subject, self._order.suite, self._order.conditions, self._spares
            )
        self._results[place] = result if trace is None else self._keep(result, trace)
        while self._told in self._results:
            self._watch(CellFinished(self._results[self._told]))
            self._told += 1

    def _room(self, cell: Cell) -> AbstractAsyncContextManager[None]:
        """What may change a server that other scenarios talk to as well, is played alone."""
        if cell.transport is Transport.STDIO:
            return nullcontext()
        return self._access.alone() if cell.scenario.effects else self._access.together()

    def _problem(self) -> str:
        refused = [
            f"{refusal.revision}: {refusal.reason}" for record in self._records for refusal in record.refused
        ]
        if refused and not any(record.facts for record in self._records):
            return "the server speaks none of the revisions asked for; " + "; ".join(refused)
        return "no scenario was selected for what this server speaks"


async def to_the_end(work: Coroutine[None, None, None]) -> None:
    """Whoever is cancelled meanwhile hears of it after the work is done: no subject is left behind."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


def _opened(played: Recording) -> bool:
    """Whether the subject took the opening for its own: it spoke the revision, or answered with a result."""
    if isinstance(played.value, Facts):
        return True
    opening = next(played.trace.exchanges("initialize", "server/discover"), None)
    return opening is not None and opening.result is not None


def _refusal(revision: Revision, played: Recording) -> Refusal:
    if isinstance(played.value, Refusal):
        return played.value
    unanswered = not any(message.is_response for message in played.trace.received)
    return Refusal(revision.date, str(played.broken), unanswered=unanswered)


def _first_reason(played: Sequence[Recording]) -> BrokenOff:
    return next((one.broken for one in played if one.broken is not None), BrokenOff("no answer"))
