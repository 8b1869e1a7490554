"""SIGTERM while requests are in progress, where the lab starts the process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    check,
    observe,
    on_termination,
    result_reply,
    scenario,
    scripted,
)
from assay.lab.harness.driver.cancellation import cancel
from assay.lab.harness.driver.choice import SafeRequest
from assay.lab.harness.driver.peer import Peer, Pending
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.links.stdio import STILL_RUNNING, TERMINATED
from assay.lab.harness.need import A_SEPARATE_SERVER
from assay.lab.harness.sabotage.saboteur import (
    Conversation,
    LocalAnswer,
    Saboteur,
    newest_of_each_kind,
    params_of,
)
from assay.lab.harness.sabotage.script import serve_minimal
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.transport import GUARDED, HTTP_ONLY, STDIO_ONLY
from assay.lab.suite.framing import EXIT_LIMIT
from assay.lab.suite.request_pace import measure_pace
from assay.lab.suite.unanswered import is_empty_success
from assay.revisions.revision import Revision

# --- what is asked


@scenario(
    "Send SIGTERM while requests are in progress",
    exercises=("robustness.exit",),
    transports=STDIO_ONLY,
    also=(),
)
async def drive_termination(stage: Stage) -> None:
    requests = await _requests(stage)
    peer = await stage.open()
    await _start(peer, requests)
    patience = min(EXIT_LIMIT, stage.patience)
    if await peer.stdio.terminate(patience) is None:
        peer.mark(STILL_RUNNING, waited=patience)
    await peer.close()


@scenario(
    "Send SIGTERM to a server that listens, while requests are in progress",
    exercises=("robustness.exit", "robustness.cut-off"),
    needs=(A_SEPARATE_SERVER,),
    transports=GUARDED,
    window=newest_of_each_kind,
    also=(),
)
async def drive_cut_off(stage: Stage) -> None:
    requests = await _requests(stage)
    server = await stage.start_separate()
    peer = await server.open()
    if stage.facts.declares("logging") and "logging/setLevel" in stage.revision.requests:
        # Without log messages, a request in progress has no event stream yet.
        await peer.request("logging/setLevel", {"level": "emergency"})
    pendings = await _start(peer, requests)
    if await server.terminate(min(EXIT_LIMIT, stage.patience)) is not None and pendings:
        # The process has closed its connections: what it sent before is read here.
        await asyncio.wait({pending.over for pending in pendings}, timeout=stage.patience)


async def _requests(stage: Stage) -> list[SafeRequest]:
    """Safe requests that end soon, measured in another conversation: first those that last for a moment."""
    control = await stage.open()
    pace = await measure_pace(control, stage.facts)
    for pending in pace.running:
        await cancel(control, pending)
    return [*pace.lasting, *pace.quick]


async def _start(peer: Peer, requests: list[SafeRequest]) -> list[Pending]:
    """Send requests, and wait until the subject has read them."""
    pendings = [await safe.start(peer) for safe in requests]
    await peer.sentinel()
    return pendings


# --- how it is judged


@check("The process exits soon after SIGTERM", requirements=("ROBUST-03",))
def judge_exit(trace: Trace) -> Iterator[Observation]:
    running = list(trace.marks(STILL_RUNNING))
    for mark in trace.marks(TERMINATED):
        ended = _next([frame for frame in trace.frames if frame.kind is Kind.EXIT], mark)
        stays = _next(running, mark)
        if ended is not None or stays is not None:
            observed = "" if stays is None else f"still running after {stays.info.get('waited')} s"
            evidence = filter(None, (mark, ended, stays))
            expected = "the process to exit"
            yield observe("ROBUST-03", ended is not None, *evidence, expected=expected, observed=observed)


def _next(frames: list[Frame], mark: Frame) -> Frame | None:
    later = (frame for frame in frames if frame.n > mark.n and frame.connection == mark.connection)
    return next(later, None)


@check(
    "A request in progress at SIGTERM gets no empty response",
    requirements=("ROBUST-04",),
    transports=HTTP_ONLY,
)
def judge_cut_off(trace: Trace) -> Iterator[Observation]:
    for mark in trace.marks(TERMINATED):
        for call in trace.calls:
            ends = [frame.n for frame in call.received if frame.kind is Kind.END]
            if call.request_messages and call.request.n < mark.n < max(ends, default=0):
                holds = not is_empty_success(call)
                expected = "an answer, a refusal, or a connection that is cut off"
                observed = f"status {call.status} and {len(call.body)} bytes"
                yield observe("ROBUST-04", holds, mark, call, expected=expected, observed=observed)


# --- what the checks must catch


@scripted("ignores SIGTERM", breaks="ROBUST-03", silent=True, ignores_termination=True)
async def termination_ignored(conversation: Conversation, revision: Revision) -> None:
    conversation.ignores_termination = True
    async for _ in serve_minimal(conversation, revision):
        pass


listener_stays: Final = Saboteur(
    id="robustness.listener-stays",
    fault="ignores SIGTERM while it listens",
    breaks="ROBUST-03",
    transports=GUARDED,
    ignores_termination=True,
    silent=True,
)


MEASURED: Final = 0.05
UNTIL_TERMINATION: Final = 60.0


def _lasting_call(message: Json, context: FaultContext) -> Json | LocalAnswer:
    """The first call of a tool, whose time is measured, ends soon. The next arrives in the server that gets
    SIGTERM, and is in progress until then, however slow the machine is."""
    if message.get("method") != "tools/call":
        return message
    measured = context.shared.setdefault("measured", set())
    name = params_of(message).get("name")
    delay = UNTIL_TERMINATION if name in measured else MEASURED
    measured.add(name)
    return LocalAnswer([result_reply(message, {"content": [], "resultType": "complete"})], delay=delay)


@on_termination("ends calls in progress with an empty response", breaks="ROBUST-04", request=_lasting_call)
def termination_empties(request: Request, context: FaultContext) -> Response | None:
    return Response([("Content-Type", JSON)], 200, b"") if context.method == "tools/call" else None
