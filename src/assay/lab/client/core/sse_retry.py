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
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call_tool
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.request_cycle import RequestCycle, encode
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Call
from assay.protocol.framing import sse

TOOL: Final = "test_reconnection"
RETRY: Final = 500
"""Milliseconds that the client is told to wait."""
BROKEN_AT: Final = "call-1"
"""The last event of the stream of the call."""


# --- what is asked


OPEN_FOR = 0.05
"""Seconds that the stream of the call lasts."""
ANYWHERE_AFTER = 1.0
"""Seconds after which the answer goes to a client, too, that came back without saying what it missed."""


@official_scenario(
    "sse-retry",
    "A stream ends before the answer, and the client comes back for it",
    brief=Brief(steps=(LIST_TOOLS, call_tool(TOOL)), path=""),
)
async def drive_sse_retry(stage: ClientStage) -> None:
    stage.host.sessions = True
    stage.host.streams = False
    stage.host.add_tool({"name": TOOL, "description": "Ends its stream early"}, _Broken(stage).call)


class _Broken:
    """The call whose stream was ended, until its answer is fetched."""

    def __init__(self, stage: ClientStage) -> None:
        self._owed: asyncio.Queue[Any] = asyncio.Queue()
        self._numbers = count(1)
        stage.host.on_http(self._get)

    async def call(self, cycle: RequestCycle) -> Answer:
        await cycle.channel.raw(sse.priming(BROKEN_AT, RETRY))
        await asyncio.sleep(OPEN_FOR)
        self._owed.put_nowait(cycle.id)
        await cycle.channel.finish()
        return DONE

    async def _get(self, asked: Asked, reply: HttpReply) -> bool:
        if asked.method != "GET" or asked.path != "/":
            return False
        late = not self._owed.empty()
        await reply.stream()
        await reply.block(sse.priming(f"get-{next(self._numbers)}", RETRY))
        if asked.header("last-event-id") == BROKEN_AT:
            await self._answer(reply)
        elif late:
            with suppress(TimeoutError):
                await asyncio.wait_for(reply.left.wait(), ANYWHERE_AFTER)
            await self._answer(reply)
        if not reply.over:
            await reply.left.wait()
        return True

    async def _answer(self, reply: HttpReply) -> None:
        if not self._owed.empty() and not reply.left.is_set():
            result = {"content": [{"type": "text", "text": "Reconnection test completed"}]}
            body = encode({"jsonrpc": "2.0", "id": self._owed.get_nowait(), "result": result})
            await reply.block(sse.event(body, event_id="answer-1"))
            await reply.end()


# --- how it is judged


COMES_BACK = "client-sse-graceful-reconnect"
IN_TIME = "client-sse-retry-timing"
SAYS_WHERE = "client-sse-last-event-id"
EARLY = 50
"""Milliseconds before its time that are forgiven: the two clocks begin at different moments."""


@official_check(
    "sse-retry", "The client comes back for the answer", requirements=(COMES_BACK, IN_TIME, SAYS_WHERE)
)
def judge_sse_retry(trace: Trace) -> Iterator[Observation]:
    owed = {COMES_BACK: f"a call of {TOOL}, and a GET after its stream has ended"}
    yield from fail_unobserved(trace, _seen(trace), owed)


def _seen(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        end = _end(call)
        if end is None or not any(one.params.get("name") == TOOL for one in call.asked):
            continue
        back = _return(trace, end)
        if back is None:
            yield observe(COMES_BACK, False, call, expected="a GET after the end", observed="none")
            return
        yield observe(COMES_BACK, True, call, back, expected="", observed="")
        yield _timing(end, back)
        told = f"Last-Event-ID {back.resumes!r}" if back.resumes else "no Last-Event-ID"
        expected = f"Last-Event-ID {BROKEN_AT!r}"
        yield observe(SAYS_WHERE, back.resumes == BROKEN_AT, back, expected=expected, observed=told)
        return


def _end(call: Call) -> Frame | None:
    """Where the host ended the response; none where the client left before."""
    ends = (one for one in call.received if one.kind is Kind.END and one.sender is Sender.DRIVER)
    return next((one for one in ends if one.info.get("clean")), None)


def _return(trace: Trace, end: Frame) -> Call | None:
    """The GET that comes for the answer. A client may listen for other things, too, and open that late."""
    later = [one for one in trace.calls if one.sent.method == "GET" and one.request.n > end.n]
    return next((one for one in later if one.resumes == BROKEN_AT), later[-1] if later else None)


def _timing(end: Frame, back: Call) -> Observation:
    waited = (back.request.t - end.t) * 1000
    expected = f"{RETRY} ms between the end of the stream and the GET"
    return observe(
        IN_TIME, waited >= RETRY - EARLY, end, back, expected=expected, observed=f"{waited:.0f} ms"
    )


# --- what the checks must catch


BEHAVIOURS: Final = (
    behaviour(
        "core.stays-away",
        "nobody comes back for the answer",
        breaks="client-sse-graceful-reconnect",
        resumes=False,
    ),
    behaviour(
        "core.last-event-unnamed",
        "the client comes back without its last event",
        breaks="client-sse-last-event-id",
        names_last_event=False,
    ),
    behaviour(
        "core.comes-back-at-once",
        "the client comes back without waiting",
        breaks="client-sse-retry-timing",
        honours_retry=False,
    ),
)
