"""One scenario for one client: the host is set up, the client comes and goes, and what passed is judged."""

from __future__ import annotations

import time
from typing import Final

from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.frame import Header, Kind, Sender
from assay.lab.harness.plan import Cell
from assay.lab.harness.playing import judge, now, outcome_of
from assay.lab.harness.recorder import Recorder
from assay.lab.harness.redaction import Redaction
from assay.lab.harness.run import CellResult
from assay.lab.harness.scenario import Role
from assay.lab.harness.shape import prepare
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Outcome

from .brief import Brief
from .client import Client, Ended, Invitation
from .hosting import Hosting

SETTING: Final = "setting"
"""The mark that tells what the client was given, and whether it is right that it ends with an error."""
TIMED_OUT: Final = "timed out"


class Visit(Struct, frozen=True):
    result: CellResult
    trace: Trace
    ended: Ended


async def visit(cell: Cell, client: Client, suite: Suite, limit: float) -> Visit:
    """
    Raises:
        Unreachable: the client cannot be started.
        CheckFailed: a check is broken.
    """
    prepare()
    started, begin = now(), time.monotonic()
    scenario, revision = cell.scenario, cell.revision
    brief = scenario.brief or Brief()
    header = Header(revision.date, cell.transport, client.name, scenario.id, started, role=Role.CLIENT.value)
    recorder = Recorder(header, Redaction(always=("cookie", "x-api-key")))
    hosting = Hosting(recorder, revision, cell.transport, brief.path)
    hosting.context = brief.context
    await hosting.open()
    try:
        await scenario.drive(hosting)
        invitation = Invitation(
            scenario.official or scenario.id, revision.date, hosting.context, hosting.url, hosting.command
        )
        recorder.mark("client/process", SETTING, context=hosting.context, may_fail=brief.may_fail)
        ended = await client.run(invitation, limit)
    finally:
        await hosting.close()
    if hosting.host.fault is not None:
        raise hosting.host.fault
    _note(recorder, ended)
    in_time = not ended.stopped
    trace = recorder.trace(closed=in_time)
    checks = judge(suite, suite.judging(scenario), trace)
    outcome = outcome_of(suite.sought(scenario), checks, broke_off=not in_time)
    result = CellResult(
        scenario=scenario.id,
        title=scenario.title,
        transport=cell.transport,
        revision=revision.date,
        outcome=outcome,
        started=started,
        seconds=round(time.monotonic() - begin, 4),
        reason=_reason(outcome, trace, ended, limit),
        broke_off=not in_time,
        attempt=cell.attempt,
        checks=checks,
        official=scenario.official or "",
        area=scenario.area,
    )
    return Visit(result, trace, ended)


def _note(recorder: Recorder, ended: Ended) -> None:
    if ended.stopped:
        recorder.mark("client/process", TIMED_OUT)
    elif ended.status is not None:
        recorder.record(Sender.SUBJECT, "client/process", Kind.EXIT, status=ended.status)


def _reason(outcome: Outcome, trace: Trace, ended: Ended, limit: float) -> str:
    if ended.stopped:
        return f"the client had not ended after {limit:g} s, and was stopped"
    if outcome is not Outcome.INCOMPLETE:
        return ""
    if not any(frame.sender is Sender.SUBJECT and frame.kind is not Kind.EXIT for frame in trace.frames):
        return "the client never connected"
    return "nothing that it looks for was observed"
