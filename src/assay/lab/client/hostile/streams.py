"""Streams and connections that break off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Final

from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, INITIALIZE, calls_of, endpoint_calls, has_ended
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import misbehaving, on_received
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import StepFailed
from assay.lab.harness.scripted_client.web import WebClient
from assay.lab.harness.scripted_server.answer import DONE, SILENCE, Answer, AnswerError
from assay.lab.harness.scripted_server.client_run import TIMED_OUT
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.subject.process import describe_exit
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.transport import GUARDED, HTTP_ONLY, STDIO_ONLY
from assay.model.error import INVALID_PARAMS

from .hostile_server import RESULT, answer_to, call_each

BUSY: Final = "busy"
SECONDS: Final = 1.5
"""How long a call of `BUSY` takes."""
MOST_STREAMS: Final = 30
"""Streams during that call; a client that opens more does not pause."""
MOST_REQUESTS: Final = 50
"""Requests to a server that never answers; a conforming client needs three."""

# --- what is asked


@client_scenario(
    "End the client's GET stream at once",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(BUSY), call_tool(AFTER)), may_fail=True),
    exercises=("hostile.fleeting-stream",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.resumable,
)
async def drive_fleeting_stream(stage: ClientStage) -> None:
    async def busy(cycle: RequestCycle) -> Answer:
        await asyncio.sleep(SECONDS)
        return RESULT

    stage.server.sessions = True  # without a session, some clients open no stream
    stage.server.add_tool({"name": BUSY}, busy)
    stage.server.add_tool({"name": AFTER})

    @stage.server.on_http
    async def end(request: InboundRequest, reply: HttpReply) -> bool:
        if request.method == "GET":
            await reply.stream()
            await reply.end()
        return request.method == "GET"


STYLE: Final = "style"
"""The mark that names the style of the next stream."""
LONG: Final = 256 * 1024
STYLES: Final[Mapping[str, Callable[[bytes, bytes], bytes]]] = {
    "usual": lambda page, wrong: b"event: message\ndata: " + page + b"\n\n",
    "no space": lambda page, wrong: b"data:" + page + b"\n\n",
    "CRLF": lambda page, wrong: b"event: message\r\ndata: " + page + b"\r\n\r\n",
    "CR": lambda page, wrong: b"event: message\rdata: " + page + b"\r\r: more\r",
    "comments": lambda page, wrong: b": one\n:\n:two\ndata: " + page + b"\n: three\n\n",
    "unknown fields": lambda page, wrong: b"colour: red\nplain\nretry: soon\ndata: " + page + b"\n\n",
    "unknown event": lambda page, wrong: b"event: remark\ndata: " + wrong + b"\n\ndata: " + page + b"\n\n",
    "empty events": lambda page, wrong: b"event: message\n\ndata:\n\n\n\ndata: " + page + b"\n\n",
    # Lines of data are joined with a newline, which JSON allows after the first brace.
    "several lines": lambda page, wrong: b"data: {\ndata: " + page[1:] + b"\n\n",
    "long comment": lambda page, wrong: b":" + b"x" * LONG + b"\n\ndata: " + page + b"\n\n",
    "CR at the end": lambda page, wrong: b"data: " + page + b"\r\r",
}
"""Ways to write a page as an event stream; by the standard, `wrong` is not part of it."""


@client_scenario(
    "Write event streams in every way that their standard allows",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(AFTER)), may_fail=True, pages=True),
    exercises=("hostile.odd-events",),
    transports=HTTP_ONLY,
)
async def drive_odd_events(stage: ClientStage) -> None:
    server = stage.server
    styles = list(STYLES)
    server.add_tool({"name": AFTER})

    @server.on("tools/list")
    async def pages(cycle: RequestCycle) -> Answer:
        cursor = cycle.params.get("cursor", styles[0])
        if cursor not in styles:
            raise AnswerError(INVALID_PARAMS, "no such cursor")
        place = styles.index(cursor)
        more = {"nextCursor": styles[place + 1]} if place + 1 < len(styles) else {}
        page = answer_to(cycle, {"tools": [] if more else server.items["tools"], **more})
        server.mark(STYLE, style=cursor)
        await cycle.channel.raw(STYLES[cursor](page, answer_to(cycle, {"tools": []})))
        await cycle.channel.finish()
        return DONE


@client_scenario(
    "Exit in the middle of a line",
    script=call_each(("half_line",)),
    exercises=("hostile.hung-up",),
    transports=STDIO_ONLY,
)
async def drive_half_line(stage: ClientStage) -> None:
    async def half(cycle: RequestCycle) -> Answer:
        answer = answer_to(cycle, RESULT)
        await cycle.channel.raw(answer[: len(answer) // 2])
        cycle.channel.cut()
        return SILENCE

    stage.server.add_tool({"name": "half_line"}, half)
    stage.server.add_tool({"name": AFTER})


@client_scenario(
    "Close the connection after the first request",
    script=ClientScript(steps=(LIST_TOOLS,), may_fail=True),
    exercises=("hostile.hung-up",),
)
async def drive_never_up(stage: ClientStage) -> None:
    async def hang_up(cycle: RequestCycle) -> Answer:
        cycle.channel.cut()
        return DONE

    for method in (INITIALIZE, "server/discover", "tools/list"):
        stage.server.on(method)(hang_up)


# --- how it is judged


@check("The client pauses before it reopens a stream", requirements=("HOSTILE-14",), transports=HTTP_ONLY)
def judge_fleeting_stream(trace: Trace) -> Iterator[Observation]:
    streams = [call.request for call in endpoint_calls(trace, "GET")]
    for call in calls_of(trace, BUSY):
        if call.answer is not None and streams:
            begin, end = call.request.frame.n, call.answer.frame.n
            during = [frame for frame in streams if begin < frame.n < end]
            holds, evidence = len(during) <= MOST_STREAMS, during[:2]
            expected, observed = f"at most {MOST_STREAMS} in {SECONDS:g} seconds", f"{len(during)} streams"
            yield observe("HOSTILE-14", holds, call, *evidence, expected=expected, observed=observed)


@check(
    "Event streams are read as their standard requires", requirements=("HOSTILE-09",), transports=HTTP_ONLY
)
def judge_odd_events(trace: Trace) -> Iterator[Observation]:
    following = dict(pairwise(STYLES))
    if not any("cursor" in page.params for page in trace.subject_exchanges("tools/list")):
        return  # the client reads the first page only
    for mark in trace.marks(STYLE):
        style = str(mark.info.get("style"))
        pages = trace.subject_exchanges("tools/list")
        next_requests = (
            [page for page in pages if page.params.get("cursor") == following[style]]
            if style in following
            else calls_of(trace, AFTER)
        )
        later = [request for request in next_requests if request.request.frame.n > mark.n][:1]
        if later or has_ended(trace):
            expected, observed = "the request that follows that page", f"none: the style was {style!r}"
            yield observe("HOSTILE-09", bool(later), mark, *later, expected=expected, observed=observed)


@check("A client whose connection is closed continues or exits", requirements=("HOSTILE-17", "HOSTILE-07"))
def judge_hung_up(trace: Trace) -> Iterator[Observation]:
    expected = "the client to exit without being stopped"
    for mark in trace.marks(TIMED_OUT):
        yield observe("HOSTILE-17", False, mark, expected=expected, observed="it was stopped")
    for frame in (frame for frame in trace.frames if frame.kind is Kind.EXIT):
        status = frame.info.get("status")
        if isinstance(status, int):
            observed = describe_exit(status)
            yield observe("HOSTILE-17", status >= 0, frame, expected=expected, observed=observed)
    requests = list(trace.subject_exchanges())
    holds = len(requests) <= MOST_REQUESTS
    if requests and (has_ended(trace) or not holds):
        expected, observed = f"at most {MOST_REQUESTS} requests", f"{len(requests)} requests"
        yield observe("HOSTILE-07", holds, *requests[-2:], expected=expected, observed=observed)


# --- what the checks must catch


@misbehaving(
    "reopens a stream at once, again and again",
    breaks="HOSTILE-14",
    scenario="hostile.fleeting-stream",
    transports=HTTP_ONLY,
)
async def opens_over_and_over(client: ScriptedClient) -> None:
    async def reopen() -> None:
        for _ in range(2 * MOST_STREAMS):
            await WebClient(client).fetch("GET", client.setup.url, [("Accept", "text/event-stream")])

    await client.open()
    await client.run_steps([LIST_TOOLS])
    client.task(reopen())
    await client.run_steps([call_tool(BUSY)])


@on_received("does not read streams whose lines end with CR", breaks="HOSTILE-09", transports=HTTP_ONLY)
def lines_of_one_kind(message: Json, client: ScriptedClient) -> Json | None:
    result = message.get("result")
    return None if isinstance(result, dict) and result.get("nextCursor") == "comments" else message


@misbehaving(
    "connects without limit to a server that closes connections",
    breaks="HOSTILE-07",
    scenario="hostile.never-up",
    transports=GUARDED,
)
async def knocks_without_end(client: ScriptedClient) -> None:
    for _ in range(MOST_REQUESTS + 1):
        with suppress(StepFailed):
            await client.open()


@misbehaving(
    "waits for an answer on a closed connection", breaks="HOSTILE-17", scenario="hostile.never-up", limit=0.5
)
async def waits_for_the_dead(client: ScriptedClient) -> None:
    with suppress(StepFailed):
        await client.open()
    await asyncio.Event().wait()
