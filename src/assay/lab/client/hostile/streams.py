"""Streams and connections that break off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
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
from assay.lab.harness.subject.process import how_it_ended
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.transport import GUARDED, HTTP_ONLY, STDIO_ONLY
from assay.model.error import INVALID_PARAMS

from .hostile_server import WELL, answer_to, trying

# --- how it is judged


BUSY: Final = "busy"


@client_scenario(
    "A stream that ends at once is not opened over and over",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(BUSY), call_tool(AFTER)), may_fail=True),
    exercises=("hostile.fleeting-stream",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.resumable,
)
async def drive_fleeting_stream(stage: ClientStage) -> None:
    async def busy(cycle: RequestCycle) -> Answer:
        await asyncio.sleep(SECONDS)
        return WELL

    stage.server.sessions = True  # without one, some clients open no stream
    stage.server.add_tool({"name": BUSY}, busy)
    stage.server.add_tool({"name": AFTER})

    @stage.server.on_http
    async def end(request: InboundRequest, reply: HttpReply) -> bool:
        if request.method == "GET":
            await reply.stream()
            await reply.end()
        return request.method == "GET"


@client_scenario(
    "Event streams are read as their standard says",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(AFTER)), may_fail=True),
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
        wrong = answer_to(cycle, {"tools": []})
        server.mark(STYLE, style=cursor)
        await cycle.channel.raw(STYLES[cursor](page, wrong))
        await cycle.channel.finish()
        return DONE


@client_scenario(
    "A server that ends in the middle of a line leaves nobody waiting",
    script=trying(("half_line",)),
    exercises=("hostile.hung-up",),
    transports=STDIO_ONLY,
)
async def drive_half_line(stage: ClientStage) -> None:
    async def half(cycle: RequestCycle) -> Answer:
        answer = answer_to(cycle, WELL)
        await cycle.channel.raw(answer[: len(answer) // 2])
        cycle.channel.cut()
        return SILENCE

    stage.server.add_tool({"name": "half_line"}, half)
    stage.server.add_tool({"name": AFTER})


@client_scenario(
    "A server that hangs up at once leaves nobody waiting",
    script=ClientScript(steps=(LIST_TOOLS,), may_fail=True),
    exercises=("hostile.hung-up",),
)
async def drive_never_up(stage: ClientStage) -> None:
    async def hang_up(cycle: RequestCycle) -> Answer:
        cycle.channel.cut()
        return DONE

    for method in (INITIALIZE, "server/discover", "tools/list"):
        stage.server.on(method)(hang_up)


ROW = "HOSTILE-14"
SECONDS: Final = 1.5
"""How long that call takes."""
MOST: Final = 30
"""Streams in that time: who opens more does nothing else."""


@check("A stream that ends at once is not opened over and over", requirements=(ROW,), transports=HTTP_ONLY)
def judge_fleeting_stream(trace: Trace) -> Iterator[Observation]:
    opened = [one.request for one in endpoint_calls(trace, "GET")]
    for one in calls_of(trace, BUSY):
        if one.answer is not None and opened:
            begin, end = one.request.frame.n, one.answer.frame.n
            during = [frame for frame in opened if begin < frame.n < end]
            expected, observed = f"at most {MOST} in {SECONDS:g} seconds", f"{len(during)} of them"
            yield observe(ROW, len(during) <= MOST, one, *during[:2], expected=expected, observed=observed)


ODD_EVENTS_ROW = "HOSTILE-09"
STYLE: Final = "style"
"""The mark that tells in which way the next stream is unusual."""
LONG: Final = 256 * 1024


def _parted(page: bytes, wrong: bytes) -> bytes:
    """JSON may have a newline after its first brace, and that is what lines of data are joined by."""
    return b"data: {\ndata: " + page[1:] + b"\n\n"


STYLES: Final[Mapping[str, Callable[[bytes, bytes], bytes]]] = {
    "usual": lambda page, wrong: b"event: message\ndata: " + page + b"\n\n",
    "no space": lambda page, wrong: b"data:" + page + b"\n\n",
    "CRLF": lambda page, wrong: b"event: message\r\ndata: " + page + b"\r\n\r\n",
    "CR": lambda page, wrong: b"event: message\rdata: " + page + b"\r\r: more\r",
    "comments": lambda page, wrong: b": one\n:\n:two\ndata: " + page + b"\n: three\n\n",
    "unknown fields": lambda page, wrong: b"colour: red\nplain\nretry: soon\ndata: " + page + b"\n\n",
    "unknown event": lambda page, wrong: b"event: remark\ndata: " + wrong + b"\n\ndata: " + page + b"\n\n",
    "empty events": lambda page, wrong: b"event: message\n\ndata:\n\n\n\ndata: " + page + b"\n\n",
    "several lines": _parted,
    "long comment": lambda page, wrong: b":" + b"x" * LONG + b"\n\ndata: " + page + b"\n\n",
    "CR at the end": lambda page, wrong: b"data: " + page + b"\r\r",
}
"""How a page is written, by the way in which that is unusual; and an answer that is none by the standard."""


@check("Event streams are read as their standard says", requirements=(ODD_EVENTS_ROW,), transports=HTTP_ONLY)
def judge_odd_events(trace: Trace) -> Iterator[Observation]:
    styles = list(STYLES)
    for mark in trace.marks(STYLE):
        style = str(mark.info.get("style"))
        place = styles.index(style) + 1 if style in styles else len(styles)
        following = styles[place] if place < len(styles) else None
        asked = (one for one in trace.inquiries("tools/list") if one.params.get("cursor") == following)
        heard = list(asked) if following is not None else calls_of(trace, AFTER)
        later = [one for one in heard if one.request.frame.n > mark.n]
        if later or has_ended(trace):
            expected, observed = "what follows that page to be asked for", f"the client lost it: {style}"
            yield observe(ODD_EVENTS_ROW, bool(later), mark, *later[:1], expected=expected, observed=observed)


ENDS, BOUNDED = "HOSTILE-17", "HOSTILE-07"
HUNG_UP_MOST: Final = 50
"""Requests in a scenario that has room for three."""


@check("Who is hung up on goes on, or ends", requirements=(ENDS, BOUNDED))
def judge_hung_up(trace: Trace) -> Iterator[Observation]:
    expected = "the client to end by itself"
    for mark in trace.marks(TIMED_OUT):
        yield observe(ENDS, False, mark, expected=expected, observed="it was stopped")
    for frame in (one for one in trace.frames if one.kind is Kind.EXIT):
        status = frame.info.get("status")
        if isinstance(status, int):
            yield observe(ENDS, status >= 0, frame, expected=expected, observed=how_it_ended(status))
    made = list(trace.inquiries())
    if made and (has_ended(trace) or len(made) > HUNG_UP_MOST):
        expected, observed = f"at most {HUNG_UP_MOST} requests", f"{len(made)} of them"
        yield observe(BOUNDED, len(made) <= HUNG_UP_MOST, *made[-2:], expected=expected, observed=observed)


# --- what the checks must catch


@misbehaving(
    "a stream that ended is opened at once, over and over",
    breaks="HOSTILE-14",
    scenario="hostile.fleeting-stream",
    transports=HTTP_ONLY,
)
async def opens_over_and_over(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps([LIST_TOOLS])
    client.task(_open(client))
    await client.run_steps([call_tool(BUSY)])


async def _open(client: ScriptedClient) -> None:
    for _ in range(2 * MOST):
        await WebClient(client).fetch("GET", client.setup.url, [("Accept", "text/event-stream")])


@on_received("a stream whose lines end with CR is not understood", breaks="HOSTILE-09", transports=HTTP_ONLY)
def lines_of_one_kind(message: Json, client: ScriptedClient) -> Json | None:
    result = message.get("result")
    return None if isinstance(result, dict) and result.get("nextCursor") == "comments" else message


@misbehaving(
    "a server that hangs up is called over and over",
    breaks="HOSTILE-07",
    scenario="hostile.never-up",
    transports=GUARDED,
)
async def knocks_without_end(client: ScriptedClient) -> None:
    for _ in range(HUNG_UP_MOST + 1):
        with suppress(StepFailed):
            await client.open()


@misbehaving(
    "an answer that cannot come is waited for", breaks="HOSTILE-17", scenario="hostile.never-up", limit=0.5
)
async def waits_for_the_dead(client: ScriptedClient) -> None:
    with suppress(StepFailed):
        await client.open()
    await asyncio.Event().wait()
