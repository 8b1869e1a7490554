"""One scenario against one subject: played, recorded, judged."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.check import Check, run_check
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.broken_off import BrokenOff, NoAnswer
from assay.lab.harness.links.link import Link
from assay.lab.harness.reason import Reason, ReasonKind, stored
from assay.lab.harness.subject.bearer import USUAL, Wallet
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.out_of_band import OutOfBand
from assay.lab.harness.subject.process_pool import CONTINUED, ProcessPool
from assay.lab.harness.subject.subject import Subject
from assay.lab.harness.trace.frame import Header
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.trace.redaction import Redaction
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import CheckResult, Outcome, Verdict
from assay.revisions.revision import Revision

from .plan import Cell
from .run import CellResult

T = TypeVar("T")
UNOBSERVED: Final = Reason(ReasonKind.NOT_OBSERVED, "nothing that it looks for was observed")
INTERRUPTED: Final = Reason(ReasonKind.INTERRUPTED, "interrupted")


class Conditions(Struct, frozen=True):
    """How patient and how discreet the driver is, and what it can show to be let in."""

    patience: float = 10.0
    """Seconds to wait for any one answer."""
    limit: float = 60.0
    """Seconds for a whole scenario."""
    redaction: Redaction = Redaction()
    wallet: Wallet = Wallet()
    surroundings: OutOfBand = OutOfBand()


class Recording(Struct, frozen=True):
    """What is left of a conversation."""

    trace: Trace
    value: Any
    """What the conversation returned; none when it broke off."""
    broken: BrokenOff | None
    started: str
    seconds: float


async def play(
    name: str,
    subject: Subject,
    revision: Revision,
    conversation: Callable[[Stage], Awaitable[Any]],
    facts: Facts,
    conditions: Conditions,
    spares: ProcessPool | None = None,
) -> Recording:
    """Hold a conversation on a stage of its own and keep what passed, however it ends."""
    started = now()
    begin = time.monotonic()
    shown = conditions.redaction.words(subject.name)
    recorder = Recorder(Header(revision.date, subject.transport, shown, name, started), conditions.redaction)

    def connect(peer: Peer) -> Link:
        link = subject.link(peer, recorder, revision, name=peer.name, patience=conditions.patience)
        usual = conditions.wallet.get(USUAL)
        if usual is not None:
            link.bear(usual)
        return link

    async def equipped(stage: Stage) -> Any:
        await conditions.wallet.keep_fresh()
        return await conversation(stage)

    stage = Stage(
        recorder,
        connect,
        revision=revision,
        transport=subject.transport,
        facts=facts,
        patience=conditions.patience,
        wallet=conditions.wallet,
        surroundings=conditions.surroundings,
        spares=spares if subject.transport is Transport.STDIO else None,
    )
    value, broken = await _held(stage, equipped, conditions.limit)
    return Recording(recorder.trace(closed=broken is None), value, broken, started, time.monotonic() - begin)


async def _held(
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


async def play_cell(
    cell: Cell, subject: Subject, suite: Suite, conditions: Conditions, spares: ProcessPool | None = None
) -> tuple[CellResult, Trace | None]:
    """Play a scenario and judge it. With spares, it may go on with a process that others have used: that
    can show that all is well, and anything else is left to a process of its own."""
    if cell.hindrance is not None:
        return not_applicable(cell), None
    scenario = cell.scenario
    played = await play(scenario.id, subject, cell.revision, scenario.drive, cell.facts, conditions, spares)
    checks = judge(suite, suite.judging(scenario), played.trace)
    result = _result(cell, played, checks, suite.sought(scenario))
    if result.outcome is not Outcome.PASSED and any(played.trace.marks(CONTINUED)):
        return await play_cell(cell, subject, suite, conditions)
    return result, played.trace


def judge(suite: Suite, checks: Sequence[Check], trace: Trace) -> list[CheckResult]:
    """
    Raises:
        CheckFailed: a check is broken.
    """
    applying = [one for one in checks if one.applies(trace, suite.requirements)]
    return [result for one in applying for result in run_check(one, trace, suite.requirements)]


def not_applicable(cell: Cell) -> CellResult:
    return _bare(cell, Outcome.NOT_APPLICABLE, cell.hindrance)


async def all_of(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do them at once; the first fault of ours ends them all."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from faults


def interrupted(cell: Cell) -> CellResult:
    return _bare(cell, Outcome.INCOMPLETE, INTERRUPTED)


def _bare(cell: Cell, outcome: Outcome, reason: Reason | None) -> CellResult:
    return CellResult(
        scenario=cell.scenario.id,
        title=cell.scenario.title,
        transport=cell.transport,
        revision=cell.revision.date,
        outcome=outcome,
        started=now(),
        **stored(reason),
        attempt=cell.attempt,
        official=cell.scenario.official or "",
        area=cell.scenario.area,
    )


def _result(cell: Cell, played: Recording, checks: list[CheckResult], sought: Sequence[str]) -> CellResult:
    outcome = outcome_of(sought, checks, broke_off=played.broken is not None)
    reason = UNOBSERVED if outcome is Outcome.INCOMPLETE else None
    if played.broken is not None:
        reason = Reason(ReasonKind.BROKE_OFF, str(played.broken))
    return CellResult(
        scenario=cell.scenario.id,
        title=cell.scenario.title,
        transport=cell.transport,
        revision=cell.revision.date,
        outcome=outcome,
        started=played.started,
        seconds=round(played.seconds, 4),
        **stored(reason),
        broke_off=played.broken is not None,
        attempt=cell.attempt,
        checks=checks,
        official=cell.scenario.official or "",
        area=cell.scenario.area,
    )


def outcome_of(sought: Sequence[str], checks: Sequence[CheckResult], *, broke_off: bool) -> Outcome:
    """Failures count wherever they were found; success only where the scenario was looking for it."""
    found = {check.verdict for check in checks}
    hoped = {check.verdict for check in checks if check.id in sought}
    if Verdict.FAILURE in found:
        return Outcome.FAILED
    if broke_off or not hoped & {Verdict.SUCCESS, Verdict.WARNING}:
        return Outcome.INCOMPLETE
    return Outcome.WARNED if Verdict.WARNING in found else Outcome.PASSED
