"""One scenario for one client: the host is set up, the client comes and goes, and what passed is judged."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.links.broken_off import Gone
from assay.lab.harness.run.plan import Cell
from assay.lab.harness.run.recording import judge, now, outcome_of
from assay.lab.harness.run.run import CellResult
from assay.lab.harness.scenario import Role
from assay.lab.harness.subject.process import how_it_ended
from assay.lab.harness.trace.frame import Header, Kind, Sender
from assay.lab.harness.trace.recorder import Flooded, Recorder
from assay.lab.harness.trace.redaction import Redaction
from assay.lab.harness.trace.shape import prepare
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Outcome

from .brief import Brief
from .client import Client, Ended, Invitation
from .stage import ClientStage

SETTING: Final = "setting"
"""The mark that tells what the client was given, and whether it is right that it ends with an error."""
TIMED_OUT: Final = "timed out"


class ClientRun(Struct, frozen=True):
    result: CellResult
    trace: Trace
    ended: Ended


async def visit(
    cell: Cell,
    client: Client,
    suite: Suite,
    limit: float,
    ready: Awaitable[None] | None = None,
    came: Callable[[], None] = lambda: None,
) -> ClientRun:
    """`ready` ends when all that judging needs is loaded: the client need not wait for that. `came` is called
    when the client says its first word.

    Raises:
        Unreachable: the client cannot be started.
        CheckFailed: a check is broken.
    """
    if ready is None:
        prepare()
    begin = time.monotonic()
    recorder = _recorder(cell, client)
    recorder.expect(came)
    ended = await _received(cell, client, recorder, limit)
    if ready is not None:
        await ready
    with suppress(Flooded):  # nothing more can be noted; that it is so is told below
        _note(recorder, ended)
    trace = recorder.trace(closed=not ended.stopped)
    broken = _broken(recorder, trace, ended, limit)
    result = _judged(cell, suite, trace, broke_off=bool(broken))
    reason = _reason(result.outcome, broken, ended)
    seconds = round(time.monotonic() - begin, 4)
    return ClientRun(msgspec.structs.replace(result, reason=reason, seconds=seconds), trace, ended)


def _recorder(cell: Cell, client: Client) -> Recorder:
    header = Header(
        cell.revision.date, cell.transport, client.name, cell.scenario.id, now(), role=Role.CLIENT.value
    )
    return Recorder(header, Redaction(always=("cookie", "x-api-key")))


async def _received(cell: Cell, client: Client, recorder: Recorder, limit: float) -> Ended:
    """Set up the host, and let the client come."""
    scenario = cell.scenario
    brief = scenario.brief or Brief()
    hosting = ClientStage(recorder, cell.revision, cell.transport, brief.path)
    hosting.context = brief.context
    await hosting.open()
    try:
        await scenario.drive(hosting)
        recorder.mark("client/process", SETTING, context=hosting.context, may_fail=brief.may_fail)
        ended = await client.run(_invitation(cell, hosting), limit)
    finally:
        await hosting.close()
    if hosting.fault is not None:
        raise hosting.fault
    return ended


def _invitation(cell: Cell, hosting: ClientStage) -> Invitation:
    name = cell.scenario.official or cell.scenario.id
    return Invitation(name, cell.revision.date, hosting.context, hosting.url, hosting.command)


def _judged(cell: Cell, suite: Suite, trace: Trace, *, broke_off: bool) -> CellResult:
    scenario = cell.scenario
    checks = judge(suite, suite.judging(scenario), trace)
    return CellResult(
        scenario=scenario.id,
        title=scenario.title,
        transport=cell.transport,
        revision=cell.revision.date,
        outcome=outcome_of(suite.sought(scenario), checks, broke_off=broke_off),
        started=trace.header.started,
        broke_off=broke_off,
        attempt=cell.attempt,
        checks=checks,
        official=scenario.official or "",
        area=scenario.area,
    )


def _note(recorder: Recorder, ended: Ended) -> None:
    if ended.stopped:
        recorder.mark("client/process", TIMED_OUT)
    elif ended.status is not None:
        recorder.record(Sender.SUBJECT, "client/process", Kind.EXIT, status=ended.status)


def _broken(recorder: Recorder, trace: Trace, ended: Ended, limit: float) -> str:
    """Why the visit proves nothing, whatever is green in it; empty where it was a whole one."""
    if recorder.flooded:
        return str(Flooded())
    if ended.stopped:
        return f"the client had not ended after {limit:g} s, and was stopped"
    return "" if trace.was_visited else "the client never connected"


def _reason(outcome: Outcome, broken: str, ended: Ended) -> str:
    """Why it did not come out well; a client that ended badly most often says why itself."""
    unseen = "nothing that it looks for was observed" if outcome is Outcome.INCOMPLETE else ""
    crashed = outcome in (Outcome.FAILED, Outcome.INCOMPLETE) and bool(ended.status)
    how = broken or unseen or (how_it_ended(ended.status or 0) if crashed else "")
    return str(Gone(how, ended.last_words)) if crashed or ended.stopped else how
