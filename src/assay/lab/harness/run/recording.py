"""Runs one scenario against one subject, records it and judges the recording."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.check import Breaches, Check, run_check
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Connect, Stage
from assay.lab.harness.links.broken_off import BrokenOff, NoAnswer
from assay.lab.harness.links.link import UNREACHABLE, Link
from assay.lab.harness.reason import Reason, ReasonKind, stored
from assay.lab.harness.repeat.scenario_line import Repetition
from assay.lab.harness.subject.bearer import USUAL, TokenSet
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.out_of_band import OutOfBand
from assay.lab.harness.subject.process_pool import CONTINUED, ProcessPool
from assay.lab.harness.subject.subject import Subject, UrlSubject
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.recorder import Recorder, Redaction
from assay.lab.harness.trace.separation import judged
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import CheckResult, Outcome
from assay.revisions.revision import Revision

from .conclusion import UNOBSERVED, outcome_of
from .folding import consequences_folded, exit_explained
from .plan import Cell
from .run import CellResult

T = TypeVar("T")
PROCESS_CHANNEL: Final = "beside/process"
EXIT_LIMIT: Final = 1.0
"""Seconds for the exit of a process that closed its connections."""


class Conditions(Struct, frozen=True):
    """Time limits, redaction, tokens and other evidence of a run."""

    patience: float = 10.0
    """Seconds to wait for one answer."""
    limit: float = 60.0
    """Seconds for a scenario."""
    redaction: Redaction = Redaction()
    tokens: TokenSet = TokenSet()
    out_of_band: OutOfBand = OutOfBand()
    repetition: Repetition = Repetition()
    """How a scenario is run again."""


class Recording(Struct, frozen=True):
    trace: Trace
    value: Any
    """Return value of the conversation; None if it broke off."""
    broken: BrokenOff | None
    started: str
    seconds: float


async def record(
    name: str,
    subject: Subject,
    revision: Revision,
    conversation: Callable[[Stage], Awaitable[Any]],
    facts: Facts,
    conditions: Conditions,
    pool: ProcessPool | None = None,
) -> Recording:
    """Run a conversation on a new stage and return its recording, however it ends."""
    started = now()
    begin = time.monotonic()
    redaction = conditions.redaction
    target_name = redaction.string(subject.name)
    header = Header(revision.date, subject.transport, target_name, name, started)
    again = redaction.string(conditions.repetition.line(header))
    recorder = Recorder(msgspec.structs.replace(header, again=again), redaction)

    def connect(peer: Peer, target: Subject = subject) -> Link:
        link = target.link(peer, recorder, revision, name=peer.name, patience=conditions.patience)
        usual = conditions.tokens.get(USUAL)
        if usual is not None:
            link.use_token(usual)
        return link

    async def with_fresh_tokens(stage: Stage) -> Any:
        await conditions.tokens.keep_fresh()
        return await conversation(stage)

    stage = Stage(
        recorder,
        connect,
        revision=revision,
        transport=subject.transport,
        facts=facts,
        patience=conditions.patience,
        tokens=conditions.tokens,
        out_of_band=conditions.out_of_band,
        pool=pool if subject.transport is Transport.STDIO else None,
        separate=partial(_separate, subject, connect),
    )
    value, broken = await _converse(stage, with_fresh_tokens, conditions.limit)
    await _record_exit(subject, recorder)
    return Recording(recorder.trace(closed=broken is None), value, broken, started, time.monotonic() - begin)


async def _record_exit(subject: Subject, recorder: Recorder) -> None:
    """Record how the process of a server that listens exited, if it no longer serves."""
    if not isinstance(subject, UrlSubject) or recorder.flooded:
        return
    trace = recorder.trace(closed=False)
    if is_down(trace) or any(_is_cut_off(frame) for frame in trace.frames):
        status = await subject.ended(EXIT_LIMIT)
        if status is not None:
            stderr = subject.stderr_tail()
            recorder.record(Sender.SUBJECT, PROCESS_CHANNEL, Kind.EXIT, status=status, stderr=list(stderr))


def is_down(trace: Trace) -> bool:
    """Whether a server that listens exited, or accepted no connection, during the recording."""
    return any(trace.marks(UNREACHABLE)) or any(frame.channel == PROCESS_CHANNEL for frame in trace.frames)


def _is_cut_off(frame: Frame) -> bool:
    return frame.kind is Kind.END and frame.sender is Sender.SUBJECT and not frame.info.get("clean")


def _separate(subject: Subject, connect: Callable[..., Link]) -> tuple[UrlSubject, Connect] | None:
    """Another process of the subject, and how a peer connects to it."""
    other = subject.separate()
    return None if other is None else (other, partial(connect, target=other))


async def _converse(
    stage: Stage, conversation: Callable[[Stage], Awaitable[T]], limit: float
) -> tuple[T | None, BrokenOff | None]:
    finished = False
    try:
        async with asyncio.timeout(limit) as patience:
            value = await conversation(stage)
            await stage.settle()
        finished = True
        return value, None
    except BrokenOff as reason:
        return None, reason
    except TimeoutError:
        if not patience.expired():
            raise
        return None, NoAnswer("the whole scenario", limit)
    finally:
        await stage.close(finished=finished)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


async def run_cell(
    cell: Cell, subject: Subject, suite: Suite, conditions: Conditions, pool: ProcessPool | None = None
) -> tuple[CellResult, Trace | None]:
    """Run a scenario and judge it. With a pool, it may reuse a process: only a pass counts then, and any
    other outcome is run again in a fresh process."""
    if cell.reason is not None:
        return not_applicable(cell), None
    scenario = cell.scenario
    recording = await record(
        scenario.id, subject, cell.revision, scenario.drive, cell.facts, conditions, pool
    )
    checks = judge(suite, suite.judging(scenario), recording.trace)
    result = _result(cell, recording, checks, suite.sought(scenario))
    if result.outcome is not Outcome.PASSED and any(recording.trace.marks(CONTINUED)):
        return await run_cell(cell, subject, suite, conditions)
    return result, recording.trace


def judge(suite: Suite, checks: Sequence[Check], trace: Trace) -> list[CheckResult]:
    """
    Raises:
        CheckFailed: a check has a defect.
    """
    trace = judged(trace)
    applicable = [check for check in checks if check.applies(trace, suite.requirements)]
    breaches: Breaches = {}
    results = [
        result for check in applicable for result in run_check(check, trace, suite.requirements, breaches)
    ]
    return exit_explained(consequences_folded(results, breaches, suite.requirements))


def not_applicable(cell: Cell) -> CellResult:
    return _bare(cell, Outcome.NOT_APPLICABLE, cell.reason)


async def run_all(coroutines: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run coroutines concurrently; the first exception cancels the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for coroutine in coroutines:
                group.create_task(coroutine)
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from errors


def unfinished(cell: Cell, reason: Reason) -> CellResult:
    """The result of a scenario that was cut off, or never began."""
    return _bare(cell, Outcome.INCOMPLETE, reason, broke_off=reason.kind is ReasonKind.DEADLINE)


def _bare(cell: Cell, outcome: Outcome, reason: Reason | None, *, broke_off: bool = False) -> CellResult:
    return CellResult(
        scenario=cell.scenario.id,
        title=cell.scenario.title,
        transport=cell.transport,
        revision=cell.revision.date,
        outcome=outcome,
        started=now(),
        **stored(reason),
        broke_off=broke_off,
        attempt=cell.attempt,
        official=cell.scenario.official or "",
        area=cell.scenario.area,
    )


def _result(cell: Cell, recording: Recording, checks: list[CheckResult], sought: Sequence[str]) -> CellResult:
    outcome = outcome_of(sought, checks, broke_off=recording.broken is not None)
    reason = UNOBSERVED if outcome is Outcome.INCOMPLETE else None
    if recording.broken is not None:
        reason = Reason(ReasonKind.BROKE_OFF, str(recording.broken))
    return CellResult(
        scenario=cell.scenario.id,
        title=cell.scenario.title,
        transport=cell.transport,
        revision=cell.revision.date,
        outcome=outcome,
        started=recording.started,
        seconds=round(recording.seconds, 4),
        **stored(reason),
        broke_off=recording.broken is not None,
        attempt=cell.attempt,
        checks=checks,
        official=cell.scenario.official or "",
        area=cell.scenario.area,
    )
