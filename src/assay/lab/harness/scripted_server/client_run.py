"""A run of one scenario with one client: set up the server, run the client, judge the trace."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.links.broken_off import Gone
from assay.lab.harness.reason import Reason, ReasonKind, stored
from assay.lab.harness.run.conclusion import UNOBSERVED, outcome_of
from assay.lab.harness.run.plan import Cell
from assay.lab.harness.run.recording import judge, not_applicable, now
from assay.lab.harness.run.run import CellResult
from assay.lab.harness.scenario import Role
from assay.lab.harness.subject.process import describe_exit
from assay.lab.harness.trace.frame import Header, Kind, Sender
from assay.lab.harness.trace.recorder import Flooded, Recorder, Redaction
from assay.lab.harness.trace.shape import prepare
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Outcome

from .client import UNABLE, Client, ClientExit, ClientSetup, said_unable
from .client_script import ClientScript
from .stage import ClientStage

SETTING: Final = "setting"
"""The mark that records the client's context, and whether it may exit with an error."""
TIMED_OUT: Final = "timed out"


class ClientRun(Struct, frozen=True):
    result: CellResult
    trace: Trace
    exit: ClientExit


async def run_client(
    cell: Cell,
    client: Client,
    suite: Suite,
    limit: float,
    ready: Awaitable[None] | None = None,
    on_first_frame: Callable[[], None] = lambda: None,
) -> ClientRun:
    """`ready` completes when everything that judging needs is loaded, which may happen while the client runs.

    Raises:
        Unreachable: the client cannot be started.
        CheckFailed: a check is broken.
    """
    if ready is None:
        prepare()
    begin = time.monotonic()
    recorder = _recorder(cell, client)
    recorder.on_next_frame(on_first_frame)
    client_exit = await _record(cell, client, recorder, limit)
    if ready is not None:
        await ready
    with suppress(Flooded):  # the recorder is full: `_invalid` reports that
        _mark_exit(recorder, client_exit)
    trace = recorder.trace(closed=not client_exit.stopped)
    seconds = round(time.monotonic() - begin, 4)
    if client_exit.status == UNABLE:
        return ClientRun(_unable(cell, client_exit, seconds), trace, client_exit)
    invalid = _invalid(recorder, trace, client_exit, limit)
    result = _judge(cell, suite, trace, broke_off=bool(invalid))
    reason = _reason(result.outcome, invalid, client_exit)
    return ClientRun(msgspec.structs.replace(result, **stored(reason), seconds=seconds), trace, client_exit)


def _unable(cell: Cell, client_exit: ClientExit, seconds: float) -> CellResult:
    """What a client says that it cannot do is not held against it."""
    reason = Reason(ReasonKind.NOT_APPLICABLE, said_unable(client_exit))
    result = not_applicable(msgspec.structs.replace(cell, reason=reason))
    return msgspec.structs.replace(result, seconds=seconds)


def _recorder(cell: Cell, client: Client) -> Recorder:
    header = Header(
        cell.revision.date, cell.transport, client.name, cell.scenario.id, now(), role=Role.CLIENT.value
    )
    return Recorder(header, Redaction(always=("cookie", "x-api-key")))


async def _record(cell: Cell, client: Client, recorder: Recorder, limit: float) -> ClientExit:
    scenario = cell.scenario
    script = scenario.script or ClientScript()
    stage = ClientStage(recorder, cell.revision, cell.transport, script.path)
    stage.context = script.context
    await stage.open()
    try:
        await scenario.drive(stage)
        recorder.mark("client/process", SETTING, context=stage.context, may_fail=script.may_fail)
        client_exit = await client.run(_setup(cell, stage), limit)
    finally:
        await stage.close()
    if stage.fault is not None:
        raise stage.fault
    return client_exit


def _setup(cell: Cell, stage: ClientStage) -> ClientSetup:
    name = cell.scenario.official or cell.scenario.id
    return ClientSetup(name, cell.revision.date, stage.context, stage.url, stage.command)


def _judge(cell: Cell, suite: Suite, trace: Trace, *, broke_off: bool) -> CellResult:
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


def _mark_exit(recorder: Recorder, client_exit: ClientExit) -> None:
    if client_exit.stopped:
        recorder.mark("client/process", TIMED_OUT)
    elif client_exit.status is not None:
        info: dict[str, Any] = {"status": client_exit.status}
        if client_exit.status and client_exit.last_words:
            info["error"] = client_exit.last_words[-1]
        recorder.record(Sender.SUBJECT, "client/process", Kind.EXIT, **info)


def _invalid(recorder: Recorder, trace: Trace, client_exit: ClientExit, limit: float) -> str:
    """Why the run proves nothing even if its checks passed; empty for a complete run."""
    if recorder.flooded:
        return str(Flooded())
    if client_exit.stopped:
        return f"the client had not ended after {limit:g} s, and was stopped"
    return "" if trace.client_connected else "the client never connected"


def _reason(outcome: Outcome, invalid: str, client_exit: ClientExit) -> Reason | None:
    """Why the run did not pass, with the last lines of standard error if the client crashed."""
    crashed = outcome in (Outcome.FAILED, Outcome.INCOMPLETE) and bool(client_exit.status)
    if invalid:
        reason = Reason(ReasonKind.BROKE_OFF, invalid)
    elif outcome is Outcome.INCOMPLETE:
        reason = UNOBSERVED
    elif crashed:
        reason = Reason(ReasonKind.SUBJECT_FAILED, describe_exit(client_exit.status or 0))
    else:
        return None
    quoted = crashed or client_exit.stopped
    return Reason(reason.kind, str(Gone(reason.text, client_exit.last_words))) if quoted else reason
