"""A whole run: starts the subjects, discovers them, runs and judges every scenario, and reports progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import Any

import msgspec
from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.driver.peer import LONGEST_WAIT
from assay.lab.harness.links.broken_off import BrokenOff, Unreachable
from assay.lab.harness.reason import Reason, ReasonKind, stored
from assay.lab.harness.subject.access import Access
from assay.lab.harness.subject.discovery import DISCOVERY, discover
from assay.lab.harness.subject.facts import Facts, UnsupportedRevision
from assay.lab.harness.subject.first_calls import BUDGET, FIRST_CALLS, make_first_calls, provided
from assay.lab.harness.subject.process_pool import ProcessPool
from assay.lab.harness.subject.subject import Subject, UrlSubject
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY, Transport
from assay.lab.harness.verdict import Outcome, Verdict
from assay.model.version import VERSION
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

from .ending import DEADLINE, Ending, reason_of, run_until
from .event import CellFinished, CellsPlanned, CellStarted, RunFinished, RunStarted, SubjectKnown, Watch
from .folding import counted_once
from .plan import Cell, Selection, plan
from .recording import Conditions, Recording, is_down, judge, now, record, run_all, run_cell, unfinished
from .run import FORMAT, CellResult, Run, SubjectRecord

StoreTrace = Callable[[CellResult, Trace], CellResult]
"""Stores a trace and returns the result with its path."""


class RunSettings(Struct, frozen=True):
    suite: Suite
    selection: Selection = Selection()
    conditions: Conditions = Conditions()
    jobs: int = 1
    repeat: int = 1
    strict: bool = False
    shared: bool = True
    """Whether a process on stdio may serve several scenarios; see `process_pool.py`."""
    deadline: float = DEADLINE
    """Seconds for the whole run."""
    arguments: Mapping[str, Sequence[dict[str, Any]]] = {}
    """Sets of arguments for each tool, which the user provides."""


class SubjectDown(Exception):
    """A subject cannot be reached, or does not start: nothing was judged."""

    def __init__(self, subject: str, reason: BrokenOff) -> None:
        super().__init__(subject, reason)
        self.subject = subject
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.subject}: {self.reason}"


class Runner:
    """Stores each trace when its scenario ends, so that traces do not accumulate in memory."""

    def __init__(
        self, settings: RunSettings, subjects: Sequence[Subject], watch: Watch, store: StoreTrace
    ) -> None:
        self._settings = settings
        self._subjects = tuple(subjects)
        self._started: dict[Transport, Subject] = {}
        """By transport, which may only be known after the start."""
        self._watch = watch
        self._store = store
        self._records: list[SubjectRecord] = []
        self._cells: list[Cell] = []
        self._results: dict[int, CellResult] = {}
        self._reported = 0
        self._discovered: list[CellResult] = []
        self._calls = provided(settings.arguments)
        """What is known of the tools, on any transport."""
        self._pool = ProcessPool() if settings.shared else None
        self._slots = asyncio.Semaphore(max(1, settings.jobs))
        self._access = Access()

    async def run(self) -> Run:
        """
        Raises:
            SubjectDown: nothing can be judged.
            CheckFailed: a check has a defect.
        """
        started, begin = now(), time.monotonic()
        self._watch(RunStarted([self._name_of(subject) for subject in self._subjects]))
        try:
            ending = await run_until(self._settings.deadline, self._run_cells())
        finally:
            await uninterrupted(self._stop())
        reason = reason_of(ending, self._settings.deadline)
        results = self._discovered + [
            self._results.get(number) or unfinished(cell, reason) for number, cell in enumerate(self._cells)
        ]
        run = Run(
            format=FORMAT,
            assay=VERSION,
            started=started,
            seconds=round(time.monotonic() - begin, 3),
            subjects=self._records,
            cells=counted_once(self._settings.suite, results),
            suite=self._settings.suite.name,
            strict=self._settings.strict,
            interrupted=ending is Ending.INTERRUPTED,
            expired=ending is Ending.EXPIRED,
            problem="" if self._cells else self._problem(ending),
        )
        self._watch(RunFinished(run))
        return run

    async def discover(self) -> list[SubjectRecord]:
        """Only discover the subjects and call their tools.

        Raises:
            SubjectDown: a subject cannot be reached, or does not start.
        """
        try:
            await self._start()
            await self._plan()
        finally:
            await uninterrupted(self._stop())
        return self._records

    async def _run_cells(self) -> None:
        await self._start()
        self._cells = await self._plan()
        self._watch(CellsPlanned(len(self._cells)))
        await run_all(self._run_cell(number, cell) for number, cell in enumerate(self._cells))

    async def _start(self) -> None:
        for subject in self._subjects:
            try:
                await subject.start()
            except Unreachable as reason:
                raise SubjectDown(self._name_of(subject), reason) from reason
            self._started[subject.transport] = subject

    async def _stop(self) -> None:
        if self._pool is not None:
            await self._pool.close()
        await asyncio.gather(*(subject.stop() for subject in self._subjects))

    async def _plan(self) -> list[Cell]:
        known: dict[Transport, Mapping[Revision, Facts]] = {}
        for transport, subject in self._started.items():
            known[transport] = await self._discover(subject, self._revisions_on(transport))
            await self._call_tools(subject, known[transport])
        return plan(self._settings.suite, known, self._settings.selection, self._settings.repeat)

    async def _call_tools(self, subject: Subject, supported: Mapping[Revision, Facts]) -> None:
        """Find out which arguments work, at the newest revision. What is known already is not tried again."""
        for facts in supported.values():
            facts.permission = self._settings.selection.permission
            facts.calls = self._calls
        newest = max(supported, key=REVISIONS.index, default=None)
        if newest is None or not supported[newest].permitted_tools:
            return
        conditions = self._settings.conditions
        limit = (BUDGET + LONGEST_WAIT + 1) * conditions.patience
        conditions = msgspec.structs.replace(conditions, limit=max(limit, conditions.limit))
        async with self._slots:
            recording = await record(
                FIRST_CALLS, subject, newest, make_first_calls, supported[newest], conditions
            )
        self._judge_discovery(subject, newest, recording, FIRST_CALLS, "First calls of the tools")

    def _name_of(self, subject: Subject) -> str:
        """The redacted name: a URL may contain a key."""
        return self._settings.conditions.redaction.string(subject.name)

    def _revisions_on(self, transport: Transport) -> Sequence[Revision]:
        revisions = self._settings.selection.revisions or REVISIONS
        # HTTP+SSE is a transport of the first revision, and was replaced in the second.
        if transport is Transport.HTTP_SSE:
            return [revision for revision in revisions if revision is REVISIONS[0]]
        return revisions

    async def _discover(self, subject: Subject, revisions: Sequence[Revision]) -> dict[Revision, Facts]:
        by_revision: dict[Revision, Recording] = {}

        async def attempt(revision: Revision) -> None:
            by_revision[revision] = await self._try(subject, revision)

        # Not `gather`, which would not wait until each has stopped its process when the run is cut off.
        await run_all(attempt(revision) for revision in revisions)
        recordings = [by_revision[revision] for revision in revisions]
        subject_record = SubjectRecord(self._name_of(subject), subject.transport)
        supported: dict[Revision, Facts] = {}
        for revision, recording in zip(revisions, recordings, strict=True):
            if isinstance(recording.value, Facts):
                supported[revision] = recording.value
                subject_record.facts.append(recording.value)
            else:
                subject_record.refused.append(_refusal(revision, recording))
        self._records.append(subject_record)
        refused = subject_record.refused
        silent = refused and all(refusal.unanswered for refusal in refused) and not supported
        # A server whose output cannot be read has findings, and did start.
        if silent and not any(cell.transport == subject.transport for cell in self._discovered):
            raise SubjectDown(self._name_of(subject), _first_reason(recordings))
        self._watch(SubjectKnown(subject_record))
        return supported

    async def _try(self, subject: Subject, revision: Revision) -> Recording:
        async with self._slots:
            facts, conditions = Facts(revision.date), self._settings.conditions
            recording = await record(DISCOVERY, subject, revision, discover, facts, conditions)
        self._judge_discovery(subject, revision, recording)
        return recording

    def _judge_discovery(
        self,
        subject: Subject,
        revision: Revision,
        recording: Recording,
        name: str = DISCOVERY,
        title: str = "Discovery of the server",
    ) -> None:
        """Judge what is recorded before the scenarios, if the subject supports the revision, or tried to."""
        suite, trace, broken = self._settings.suite, recording.trace, recording.broken
        everywhere = [check for check in suite.checks.values() if check.everywhere]
        if not _answers_opening(recording):
            if not _writes_other_output(recording):
                return
            # What else is missing follows from that.
            everywhere = [check for check in everywhere if check.transports == STDIO_ONLY]
        checks = judge(suite, everywhere, trace)
        failed = Verdict.FAILURE in {check.verdict for check in checks}
        if not failed and (broken is None or not _answers_opening(recording)):
            return
        result = CellResult(
            scenario=name,
            title=title,
            transport=subject.transport,
            revision=revision.date,
            outcome=Outcome.FAILED if failed else Outcome.INCOMPLETE,
            started=recording.started,
            seconds=round(recording.seconds, 4),
            **stored(Reason(ReasonKind.BROKE_OFF, str(broken)) if broken else None),
            broke_off=broken is not None,
            checks=checks,
            area=name,
        )
        self._discovered.append(self._store(result, trace))

    async def _run_cell(self, number: int, cell: Cell) -> None:
        async with self._slots, self._access_for(cell):
            self._watch(CellStarted(cell.scenario.id, cell.transport, cell.revision.date))
            result, trace = await self._attempt(cell)
        if trace is not None and (is_down(trace) or self._is_doubtful(result)):
            # Another scenario at the same time may be to blame.
            async with self._slots, self._access.exclusive():
                result, trace = await self._attempt(cell)
        self._results[number] = result if trace is None else self._store(result, trace)
        while self._reported in self._results:
            self._watch(CellFinished(self._results[self._reported]))
            self._reported += 1

    async def _attempt(self, cell: Cell) -> tuple[CellResult, Trace | None]:
        subject = self._started[cell.transport]
        if isinstance(subject, UrlSubject):
            with suppress(Unreachable):  # the scenario will meet the same problem and record it
                await subject.revive()
        settings = self._settings
        return await run_cell(cell, subject, settings.suite, settings.conditions, self._pool)

    def _is_doubtful(self, result: CellResult) -> bool:
        """Whether a fault was found that must happen again to count."""
        checks = self._settings.suite.checks
        failed = [check.id for check in result.checks if check.verdict is Verdict.FAILURE]
        return any(checks[name].confirmed for name in failed if name in checks)

    def _access_for(self, cell: Cell) -> AbstractAsyncContextManager[None]:
        """Scenarios with effects or load run exclusively, except on stdio, where each has its own process."""
        if cell.transport is Transport.STDIO:
            return nullcontext()
        scenario = cell.scenario
        alone = scenario.effects or scenario.load or scenario.exclusive or cell.facts.has_effects
        return self._access.exclusive() if alone else self._access.shared()

    def _problem(self, ending: Ending) -> str:
        """Why nothing was planned; empty if the user stopped the run."""
        if ending is not Ending.COMPLETE:
            reason = reason_of(ending, self._settings.deadline)
            return reason.text if ending is Ending.EXPIRED else ""
        refused = [
            f"{refusal.revision}: {refusal.reason}"
            for subject_record in self._records
            for refusal in subject_record.refused
        ]
        if refused and not any(subject_record.facts for subject_record in self._records):
            return "the server supports none of the selected revisions; " + "; ".join(refused)
        return "no selected scenario applies to the revisions that this server supports"


async def uninterrupted(work: Coroutine[None, None, None]) -> None:
    """Finish the work before a cancellation takes effect, so that no process is left behind."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


def _answers_opening(recording: Recording) -> bool:
    """Whether the subject supports the revision, or at least answered its opening with a result."""
    if isinstance(recording.value, Facts):
        return True
    opening = next(recording.trace.exchanges("initialize", "server/discover"), None)
    return opening is not None and opening.result is not None


def _writes_other_output(recording: Recording) -> bool:
    """Whether a process that keeps running wrote something to its standard output, but no answer."""
    frames = recording.trace.frames
    wrote = any(frame.kind is Kind.LINE and frame.sender is Sender.SUBJECT for frame in frames)
    return wrote and not any(frame.kind is Kind.EXIT for frame in frames)


def _refusal(revision: Revision, recording: Recording) -> UnsupportedRevision:
    if isinstance(recording.value, UnsupportedRevision):
        return recording.value
    unanswered = not any(message.is_response for message in recording.trace.received)
    return UnsupportedRevision(revision.date, str(recording.broken), unanswered=unanswered)


def _first_reason(recordings: Sequence[Recording]) -> BrokenOff:
    reasons = (recording.broken for recording in recordings if recording.broken is not None)
    return next(reasons, BrokenOff("no answer"))
