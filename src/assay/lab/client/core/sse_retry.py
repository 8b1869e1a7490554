"""Reconnecting to an event stream after the `retry` interval."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import Any, Final

from assay.lab.client.declaration import official_scenario
from assay.lab.client.evidence import fail_unobserved
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.sabotage.client_saboteur import behaviour
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.request_cycle import RequestCycle, encode
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Call
from assay.protocol.framing import sse

TOOL: Final = "test_reconnection"
RETRY: Final = 500
"""The `retry` interval in milliseconds."""
LAST_EVENT: Final = "call-1"
"""The last event on the stream of the call."""


# --- what is asked


OPEN_FOR: Final = 0.05
"""Seconds that the stream of the call lasts."""
FALLBACK_AFTER: Final = 1.0
"""Seconds after which a GET without `Last-Event-ID` gets the answer, too."""


@official_scenario(
    "sse-retry",
    "End the stream of a call before the answer",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(TOOL)), path=""),
)
async def drive_sse_retry(stage: ClientStage) -> None:
    stage.server.sessions = True
    stage.server.streams = False
    stage.server.add_tool(
        {"name": TOOL, "description": "Ends its stream early"}, _InterruptedCall(stage).call
    )


class _InterruptedCall:
    """Ends the stream of a call, and sends its answer on a GET stream."""

    def __init__(self, stage: ClientStage) -> None:
        self._pending: asyncio.Queue[Any] = asyncio.Queue()
        self._numbers = count(1)
        stage.server.on_http(self._get)

    async def call(self, cycle: RequestCycle) -> Answer:
        await cycle.channel.raw(sse.priming(LAST_EVENT, RETRY))
        await asyncio.sleep(OPEN_FOR)
        self._pending.put_nowait(cycle.id)
        await cycle.channel.finish()
        return DONE

    async def _get(self, request: InboundRequest, reply: HttpReply) -> bool:
        if request.method != "GET" or request.path != "/":
            return False
        pending = not self._pending.empty()
        await reply.stream()
        await reply.block(sse.priming(f"get-{next(self._numbers)}", RETRY))
        if request.header("last-event-id") == LAST_EVENT:
            await self._answer(reply)
        elif pending:
            with suppress(TimeoutError):
                await asyncio.wait_for(reply.disconnected.wait(), FALLBACK_AFTER)
            await self._answer(reply)
        if not reply.ended:
            await reply.disconnected.wait()
        return True

    async def _answer(self, reply: HttpReply) -> None:
        if not self._pending.empty() and not reply.disconnected.is_set():
            result = {"content": [{"type": "text", "text": "Reconnection test completed"}]}
            body = encode({"jsonrpc": "2.0", "id": self._pending.get_nowait(), "result": result})
            await reply.block(sse.event(body, event_id="answer-1"))
            await reply.end()


# --- how it is judged


RECONNECTS: Final = "client-sse-graceful-reconnect"
WAITS: Final = "client-sse-retry-timing"
RESUMES: Final = "client-sse-last-event-id"
TOLERANCE: Final = 50
"""Milliseconds: the two clocks start at different moments."""


@official_check(
    "sse-retry",
    "The client reconnects for the answer",
    requirements={
        RECONNECTS: "The client did not reconnect to a stream that had ended",
        WAITS: "The client reconnected before the `retry` interval was over",
        RESUMES: "The client reconnected without `Last-Event-ID`",
    },
)
def judge_sse_retry(trace: Trace) -> Iterator[Observation]:
    expected = {RECONNECTS: f"a call of {TOOL}, and a GET after its stream has ended"}
    yield from fail_unobserved(trace, _reconnections(trace), expected)


def _reconnections(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        end = _end(call)
        if end is None or not any(message.params.get("name") == TOOL for message in call.request_messages):
            continue
        get = _reconnection(trace, end)
        if get is None:
            yield observe(RECONNECTS, False, call, expected="a GET after the end", observed="none")
            return
        yield observe(RECONNECTS, True, call, get, expected="", observed="")
        waited = (get.request.t - end.t) * 1000
        expected, observed = f"{RETRY} ms between the end of the stream and the GET", f"{waited:.0f} ms"
        yield observe(WAITS, waited >= RETRY - TOLERANCE, end, get, expected=expected, observed=observed)
        expected = f"Last-Event-ID {LAST_EVENT!r}"
        observed = f"Last-Event-ID {get.resumes!r}" if get.resumes else "no Last-Event-ID"
        yield observe(RESUMES, get.resumes == LAST_EVENT, get, expected=expected, observed=observed)
        return


def _end(call: Call) -> Frame | None:
    """Where the server ended the response; `None` if the client left before."""
    ends = (frame for frame in call.received if frame.kind is Kind.END and frame.sender is Sender.DRIVER)
    return next((frame for frame in ends if frame.info.get("clean")), None)


def _reconnection(trace: Trace, end: Frame) -> Call | None:
    """The GET for the answer. A client may open a GET stream for other messages, even late."""
    later = [call for call in trace.calls if call.sent.method == "GET" and call.request.n > end.n]
    return next((call for call in later if call.resumes == LAST_EVENT), later[-1] if later else None)


# --- what the checks must catch


BEHAVIOURS: Final = (
    behaviour("core.stays-away", "does not reconnect", breaks=RECONNECTS, resumes=False),
    behaviour("core.last-event-unnamed", "sends no `Last-Event-ID`", breaks=RESUMES, names_last_event=False),
    behaviour("core.comes-back-at-once", "reconnects without waiting", breaks=WAITS, honours_retry=False),
)
