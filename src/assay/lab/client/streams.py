"""Event streams: both kinds of answers, broken and resumed streams, HTTP+SSE."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import msgspec

from assay.lab.harness import Json, Observation, Request, Trace, check, observe
from assay.lab.harness.links.http_text import EVENT_STREAM
from assay.lab.harness.sabotage.client_saboteur import behaviour, on_message, on_received, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import DONE, SILENCE, Answer, Raw
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, optional
from assay.lab.harness.scripted_server.http_listener import HttpChannel
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.revisions.registry import HANDSHAKE

from .altered_message import is_call
from .declaration import client_scenario
from .evidence import AFTER, calls_of, endpoint_calls, has_ended, observe_cancelled, observe_continued

# --- what is asked


COMMENT = b": this is for nobody\n\n"


# --- how it is judged


PLAIN, STREAMED, COMMENTED = "plain", "streamed", "commented"


@client_scenario(
    "Both kinds of answer are understood, and comments ignored",
    script=ClientScript(
        steps=(LIST_TOOLS, call_tool(PLAIN), call_tool(STREAMED), call_tool(COMMENTED), call_tool(AFTER))
    ),
    exercises=("streams.both-kinds",),
    transports=HTTP_ONLY,
)
async def drive_both_kinds(stage: ClientStage) -> None:
    async def plainly(cycle: RequestCycle) -> Answer:
        return Raw(_answer(cycle, "plainly"), status=200)

    async def in_events(cycle: RequestCycle, how: str = "in events") -> Answer:
        await cycle.channel.send(_answer(cycle, how))
        await cycle.channel.finish()
        return DONE

    async def with_comments(cycle: RequestCycle) -> Answer:
        await cycle.channel.raw(COMMENT)
        await cycle.channel.raw(b":\n\n")
        return await in_events(cycle, "with comments")

    stage.server.add_tool({"name": PLAIN}, plainly)
    stage.server.add_tool({"name": STREAMED}, in_events)
    stage.server.add_tool({"name": COMMENTED}, with_comments)
    stage.server.add_tool({"name": AFTER})


def _answer(cycle: RequestCycle, text: str) -> bytes:
    result = cycle.server.shaped("tools/call", {"content": [{"type": "text", "text": text}]})
    return msgspec.json.encode({"jsonrpc": "2.0", "id": cycle.id, "result": result})


PATIENCE = 3.0
FRAGILE = "fragile"


@client_scenario(
    "A request whose response broke off is made again under a new id",
    # Who does not try again by itself is made to, by a second step.
    script=ClientScript(
        steps=(LIST_TOOLS, optional({**call_tool(FRAGILE), "timeout": PATIENCE}), call_tool(FRAGILE))
    ),
    exercises=("streams.reissued",),
    transports=HTTP_ONLY,
    window=lambda revision: not revision.http.resumable,
)
async def drive_broken(stage: ClientStage) -> None:
    async def break_once(cycle: RequestCycle) -> Answer:
        if cycle.server.memory.setdefault("broke", False):
            return {"content": [{"type": "text", "text": "done"}]}
        cycle.server.memory["broke"] = True
        await cycle.channel.raw(b": it will break\n\n")
        cycle.channel.cut()
        return SILENCE

    stage.server.add_tool({"name": FRAGILE}, break_once)


class OldChannel(HttpChannel):
    """One stream for all answers: none of them ends it."""

    async def reply(self, body: bytes, status: int | None = None) -> None:
        await self.send(body)


@client_scenario(
    "A server of the first transport is reached all the same",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("work")), may_fail=True),
    exercises=("streams.old-server",),
    transports=HTTP_ONLY,
    window=lambda revision: revision in HANDSHAKE,
)
async def drive_old_server(stage: ClientStage) -> None:
    streams: list[HttpReply] = []

    @stage.server.on_http
    async def serve(request: InboundRequest, reply: HttpReply) -> bool:
        if request.method == "GET":
            await reply.stream()
            await reply.block(TOLD + f"\ndata: {MESSAGES}\n\n".encode())
            streams.append(reply)
            await reply.disconnected.wait()
        elif request.path == MESSAGES and streams:
            await reply.respond(202)
            await take(request, streams[-1])
        else:
            await reply.respond(405)
        return True

    async def take(request: InboundRequest, stream: HttpReply) -> None:
        try:
            message = msgspec.json.decode(request.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if isinstance(message, dict):
            channel = OldChannel(stream, "1", streams=True, headers=[])
            await stage.server.receive(RequestCycle(stage.server, message, channel, request))

    stage.server.add_tool({"name": "work"})


LAST, RETRY = "event-7", 300


@client_scenario(
    "A stream that broke off is gone on with, no sooner than the server said",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("broken")), may_fail=True),
    exercises=("streams.resumed",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.priming,
)
async def drive_resumed(stage: ClientStage) -> None:
    async def break_off(cycle: RequestCycle) -> Answer:
        result = {"content": [{"type": "text", "text": "the rest"}]}
        rest = {"jsonrpc": "2.0", "id": cycle.id, "result": result}
        cycle.server.memory["rest"] = msgspec.json.encode(rest)
        await cycle.channel.raw(f"id: {LAST}\nretry: {RETRY}\ndata:\n\n".encode())
        cycle.server.mark(BROKEN, last=LAST, retry=RETRY)
        await cycle.channel.finish()
        return DONE

    @stage.server.on_http
    async def go_on(request: InboundRequest, reply: HttpReply) -> bool:
        if request.method != "GET" or "rest" not in stage.server.memory:
            return False
        await reply.stream()
        await reply.block(b"id: event-8\ndata: %b\n\n" % stage.server.memory["rest"])
        await reply.end()
        return True

    stage.server.add_tool({"name": "broken"}, break_off)


@check("Both kinds of answer are understood", requirements=("HTTP-13", "HTTP-65"), transports=HTTP_ONLY)
def judge_both_kinds(trace: Trace) -> Iterator[Observation]:
    yield from observe_continued("HTTP-13", trace, PLAIN, "an answer as JSON to be understood", then=STREAMED)
    yield from observe_continued(
        "HTTP-13", trace, STREAMED, "an answer as events to be understood", then=COMMENTED
    )
    yield from observe_continued(
        "HTTP-65", trace, COMMENTED, "comments in a stream to be ignored", then=AFTER
    )


MESSAGES = "/messages"
"""Where the old server takes messages."""
TOLD = b"event: endpoint"


@check("An old server is reached by its stream", requirements=("SSE-03", "SSE-06"), transports=HTTP_ONLY)
def judge_old_server(trace: Trace) -> Iterator[Observation]:
    told = next((one.n for one in trace.frames if one.raw.startswith(TOLD)), len(trace.frames))
    sent = [one for one in trace.calls if one.sent.method == "POST" and one.request.n > told]
    for call in sent:
        right, observed = _is_there(call), call.sent.target
        yield observe("SSE-03", right, call, expected=f"POST {MESSAGES}", observed=observed)
    # Who opens no stream does not want to reach old servers, and nobody has to.
    opened = _opened(trace)
    if opened is not None and (sent or has_ended(trace)):
        reached = [one for one in sent if _is_there(one)]
        expected, observed = f"messages to {MESSAGES}, once the stream has named it", "none"
        yield observe("SSE-06", bool(reached), opened, *reached[:1], expected=expected, observed=observed)


def _opened(trace: Trace) -> Call | None:
    """The stream that the client asked for once its POST was refused."""
    refused = (one.request.n for one in endpoint_calls(trace, "POST") if 400 <= one.status < 500)
    since = next(refused, None)
    if since is None:
        return None
    asked = (one for one in endpoint_calls(trace, "GET") if EVENT_STREAM in (one.sent.get("accept") or ""))
    return next((one for one in asked if one.request.n > since), None)


def _is_there(call: Call) -> bool:
    return call.sent.target.endswith(MESSAGES)


BROKEN = "broken off"
"""The mark with the last event's id (`last`) and the delay in milliseconds that was asked for (`retry`)."""
TOLERANCE = 0.9
"""Of the delay: clocks differ."""


@check(
    "A broken stream is gone on with", requirements=("HTTP-24", "HTTP-26", "HTTP-34"), transports=HTTP_ONLY
)
def judge_resumed(trace: Trace) -> Iterator[Observation]:
    for mark in trace.marks(BROKEN):
        back = [one for one in endpoint_calls(trace, "GET") if _comes_back(one, mark)]
        back.sort(key=lambda one: one.resumes is None)
        if back or has_ended(trace):
            observed = "it did not come back"
            yield observe("HTTP-24", bool(back), mark, *back[:1], expected="a GET", observed=observed)
        for one in back[:1]:
            last = mark.info.get("last")
            expected, observed = f"Last-Event-ID: {last}", f"{one.resumes}"
            yield observe("HTTP-34", one.resumes == last, mark, one, expected=expected, observed=observed)
            yield _waited(trace, mark, one)


def _comes_back(call: Call, mark: Frame) -> bool:
    """Whether it may come for the rest: what opened before the break is for what belongs to no request."""
    return call.request.n > mark.n


def _waited(trace: Trace, mark: Frame, back: Call) -> Observation:
    end = next((one for one in trace.frames[mark.n :] if one.kind is Kind.END), mark)
    seconds, wanted = back.request.t - end.t, mark.info.get("retry", 0) / 1000
    expected, observed = f"to wait {wanted:g} s", f"{seconds:.3f} s"
    return observe("HTTP-26", seconds >= wanted * TOLERANCE, end, back, expected=expected, observed=observed)


@check("A request that is given up is cancelled in words", requirements=("HTTP-19",), transports=HTTP_ONLY)
def judge_cancelled(trace: Trace) -> Iterator[Observation]:
    return observe_cancelled("HTTP-19", trace)


@check("A broken request is made again under a new id", requirements=("HTTP-22",), transports=HTTP_ONLY)
def judge_reissued(trace: Trace) -> Iterator[Observation]:
    called = calls_of(trace, FRAGILE)
    for broken, again in pairwise(called):
        if broken.answer is None:
            same = same_id(broken.request.id, again.request.id)
            expected, observed = "a new request with a new id", f"id {again.request.id!r} again"
            yield observe("HTTP-22", not same, broken, again, expected=expected, observed=observed)


# --- what the checks must catch


@on_received("an answer as events is not understood", breaks="HTTP-13")
def deaf_to_events(message: Json, client: ScriptedClient) -> Json | None:
    return None if "in events" in str(message.get("result")) else message


@on_received("an answer as JSON is not understood", breaks="HTTP-13")
def deaf_to_json(message: Json, client: ScriptedClient) -> Json | None:
    return None if "plainly" in str(message.get("result")) else message


@on_received("a stream with comments is not understood", breaks="HTTP-65")
def upset_by_comments(message: Json, client: ScriptedClient) -> Json | None:
    return None if "with comments" in str(message.get("result")) else message


@on_request("messages do not go to the address that was told", breaks="SSE-03")
def one_address(request: Request, client: ScriptedClient) -> Request:
    if request.target.endswith(MESSAGES):
        request.target = request.target.removesuffix(MESSAGES) + "/mcp"
    return request


@on_request("the endpoint that an old server names is not used", breaks="SSE-06")
def deaf_to_endpoint(request: Request, client: ScriptedClient) -> Request | None:
    return None if request.target.endswith(MESSAGES) else request


@on_message("a broken request is made again under its old id", breaks="HTTP-22", transports=HTTP_ONLY)
def same_request(message: Json, client: ScriptedClient) -> Json:
    return {**message, "id": "fragile"} if is_call(message, FRAGILE) else message


BEHAVIOURS: Final = (
    behaviour(
        "streams.stays-away",
        "a stream that broke is not gone on with",
        breaks="HTTP-24",
        scenario="streams.resumed",
        resumes=False,
    ),
    behaviour(
        "streams.comes-back-at-once",
        "the delay that the server asked for is not kept",
        breaks="HTTP-26",
        scenario="streams.resumed",
        honours_retry=False,
    ),
    behaviour(
        "streams.last-event-unnamed",
        "the last event is not named",
        breaks="HTTP-34",
        scenario="streams.resumed",
        names_last_event=False,
    ),
    behaviour(
        "streams.leaves-in-silence", "a request is given up without a word", breaks="HTTP-19", cancels=False
    ),
)
