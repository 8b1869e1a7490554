"""Event streams: both kinds of answers, broken and resumed streams, HTTP+SSE."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Final

import msgspec

from assay.lab.harness import Json, Observation, Request, Trace, check, observe
from assay.lab.harness.links.http_text import EVENT_STREAM
from assay.lab.harness.sabotage.client_saboteur import (
    ClientSaboteur,
    behaviour,
    on_message,
    on_received,
    on_request,
)
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import DONE, SILENCE, Answer, Raw
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, optional
from assay.lab.harness.scripted_server.http_listener import HttpChannel
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.revisions.registry import HANDSHAKE

from .altered_message import is_call
from .declaration import client_scenario
from .evidence import AFTER, calls_of, endpoint_calls, has_ended, observe_cancelled, observe_continued

PLAIN, STREAMED, COMMENTED = "plain", "streamed", "commented"
FRAGILE: Final = "fragile"
BROKEN: Final = "broken off"
"""The mark of a broken stream, with the id of its last event and the `retry` delay in milliseconds."""
MESSAGES: Final = "/messages"
"""Where an HTTP+SSE server receives messages."""
ENDPOINT_EVENT: Final = b"event: endpoint"

# --- what is asked


@client_scenario(
    "Answer with JSON, with an event stream, and with comments in one",
    script=ClientScript(
        steps=(LIST_TOOLS, call_tool(PLAIN), call_tool(STREAMED), call_tool(COMMENTED), call_tool(AFTER))
    ),
    exercises=("streams.both-kinds",),
    transports=HTTP_ONLY,
)
async def drive_both_kinds(stage: ClientStage) -> None:
    async def plain(cycle: RequestCycle) -> Answer:
        return Raw(_answer(cycle, "plainly"), status=200)

    async def streamed(cycle: RequestCycle, text: str = "in events") -> Answer:
        await cycle.channel.send(_answer(cycle, text))
        await cycle.channel.finish()
        return DONE

    async def commented(cycle: RequestCycle) -> Answer:
        await cycle.channel.raw(b": this is a comment\n\n")
        await cycle.channel.raw(b":\n\n")
        return await streamed(cycle, "with comments")

    stage.server.add_tool({"name": PLAIN}, plain)
    stage.server.add_tool({"name": STREAMED}, streamed)
    stage.server.add_tool({"name": COMMENTED}, commented)
    stage.server.add_tool({"name": AFTER})


def _answer(cycle: RequestCycle, text: str) -> bytes:
    result = cycle.server.shaped("tools/call", {"content": [{"type": "text", "text": text}]})
    return msgspec.json.encode({"jsonrpc": "2.0", "id": cycle.id, "result": result})


@client_scenario(
    "Break off a response that cannot be resumed",
    # The second step is for clients that do not retry without one.
    script=ClientScript(
        steps=(LIST_TOOLS, optional({**call_tool(FRAGILE), "timeout": 3.0}), call_tool(FRAGILE))
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


class SharedStream(HttpChannel):
    """The stream of an HTTP+SSE server, which carries all answers."""

    async def reply(self, body: bytes, status: int | None = None) -> None:
        await self.send(body)


@client_scenario(
    "Serve only HTTP+SSE",
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
            await reply.block(ENDPOINT_EVENT + f"\ndata: {MESSAGES}\n\n".encode())
            streams.append(reply)
            await reply.disconnected.wait()
        elif request.path == MESSAGES and streams:
            await reply.respond(202)
            await receive(request, streams[-1])
        else:
            await reply.respond(405)
        return True

    async def receive(request: InboundRequest, stream: HttpReply) -> None:
        try:
            message = msgspec.json.decode(request.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if isinstance(message, dict):
            channel = SharedStream(stream, "1", streams=True, headers=[])
            await stage.server.receive(RequestCycle(stage.server, message, channel, request))

    stage.server.add_tool({"name": "work"})


LAST, RETRY = "event-7", 300


@client_scenario(
    "Break off a stream that can be resumed after a delay",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("broken")), may_fail=True),
    exercises=("streams.resumed",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.priming,
)
async def drive_resumed(stage: ClientStage) -> None:
    async def break_off(cycle: RequestCycle) -> Answer:
        cycle.server.memory["rest"] = _answer(cycle, "the rest")
        await cycle.channel.raw(f"id: {LAST}\nretry: {RETRY}\ndata:\n\n".encode())
        cycle.server.mark(BROKEN, last=LAST, retry=RETRY)
        await cycle.channel.finish()
        return DONE

    @stage.server.on_http
    async def resume(request: InboundRequest, reply: HttpReply) -> bool:
        if request.method != "GET" or "rest" not in stage.server.memory:
            return False
        await reply.stream()
        await reply.block(b"id: event-8\ndata: %b\n\n" % stage.server.memory["rest"])
        await reply.end()
        return True

    stage.server.add_tool({"name": "broken"}, break_off)


# --- how it is judged


@check(
    "JSON and event streams are both understood", requirements=("HTTP-13", "HTTP-65"), transports=HTTP_ONLY
)
def judge_both_kinds(trace: Trace) -> Iterator[Observation]:
    for requirement, tool, following, expected in (
        ("HTTP-13", PLAIN, STREAMED, "an answer as JSON to be understood"),
        ("HTTP-13", STREAMED, COMMENTED, "an answer as an event stream to be understood"),
        ("HTTP-65", COMMENTED, AFTER, "comments in a stream to be ignored"),
    ):
        yield from observe_continued(requirement, trace, tool, expected, then=following)


@check("An HTTP+SSE server is reached by its stream", requirements=("SSE-03", "SSE-06"), transports=HTTP_ONLY)
def judge_old_server(trace: Trace) -> Iterator[Observation]:
    announced = (frame.n for frame in trace.frames if frame.raw.startswith(ENDPOINT_EVENT))
    since = next(announced, len(trace.frames))
    posts = [call for call in trace.calls if call.sent.method == "POST" and call.request.n > since]
    for call in posts:
        holds, observed = _is_to_endpoint(call), call.sent.target
        yield observe("SSE-03", holds, call, expected=f"POST {MESSAGES}", observed=observed)
    # Support of HTTP+SSE servers is optional: a client without it opens no stream.
    stream = _opened_stream(trace)
    if stream is not None and (posts or has_ended(trace)):
        reached = [call for call in posts if _is_to_endpoint(call)][:1]
        expected, observed = f"messages to {MESSAGES}, after the stream announced it", "none"
        yield observe("SSE-06", bool(reached), stream, *reached, expected=expected, observed=observed)


def _opened_stream(trace: Trace) -> Call | None:
    """The stream that the client opened after its POST was refused."""
    refused = (call.request.n for call in endpoint_calls(trace, "POST") if 400 <= call.status < 500)
    since = next(refused, len(trace.frames))
    later = (call for call in endpoint_calls(trace, "GET") if call.request.n > since)
    return next((call for call in later if EVENT_STREAM in (call.sent.get("accept") or "")), None)


def _is_to_endpoint(call: Call) -> bool:
    return call.sent.target.endswith(MESSAGES)


TOLERANCE: Final = 0.9
"""The part of the delay that must pass: clocks differ."""


@check(
    "A broken stream is resumed after its delay",
    requirements=("HTTP-24", "HTTP-26", "HTTP-34"),
    transports=HTTP_ONLY,
)
def judge_resumed(trace: Trace) -> Iterator[Observation]:
    for mark in trace.marks(BROKEN):
        # A GET without an event id may open a stream for other messages.
        later = (call for call in endpoint_calls(trace, "GET") if call.request.n > mark.n)
        resumptions = sorted(later, key=lambda call: call.resumes is None)[:1]
        if resumptions or has_ended(trace):
            holds, observed = bool(resumptions), "the client did not reconnect"
            yield observe("HTTP-24", holds, mark, *resumptions, expected="a GET", observed=observed)
        for call in resumptions:
            last, delay = mark.info.get("last"), mark.info.get("retry", 0) / 1000
            expected, observed = f"Last-Event-ID: {last}", f"{call.resumes}"
            yield observe("HTTP-34", call.resumes == last, mark, call, expected=expected, observed=observed)
            end = next((frame for frame in trace.frames[mark.n :] if frame.kind is Kind.END), mark)
            seconds = call.request.t - end.t
            holds = seconds >= delay * TOLERANCE
            expected, observed = f"a delay of {delay:g} s", f"{seconds:.3f} s"
            yield observe("HTTP-26", holds, end, call, expected=expected, observed=observed)


@check(
    "A request that timed out is cancelled by a notification", requirements=("HTTP-19",), transports=HTTP_ONLY
)
def judge_cancelled(trace: Trace) -> Iterator[Observation]:
    return observe_cancelled("HTTP-19", trace)


@check(
    "A request whose response broke off is retried under a new id",
    requirements=("HTTP-22",),
    transports=HTTP_ONLY,
)
def judge_reissued(trace: Trace) -> Iterator[Observation]:
    for broken, retry in pairwise(calls_of(trace, FRAGILE)):
        if broken.answer is None:
            holds = not same_id(broken.request.id, retry.request.id)
            expected, observed = "a new request with a new id", f"id {retry.request.id!r} again"
            yield observe("HTTP-22", holds, broken, retry, expected=expected, observed=observed)


# --- what the checks must catch


def _misses(name: str, fault: str, breaks: str, text: str) -> ClientSaboteur:
    """A client that does not receive the answer with this text."""
    return on_received(fault, id=name, breaks=breaks)(
        lambda message, client: None if text in str(message.get("result")) else message
    )


MISSED: Final = (
    _misses("streams.deaf-to-events", "does not understand event streams", "HTTP-13", "in events"),
    _misses("streams.deaf-to-json", "does not understand answers as JSON", "HTTP-13", "plainly"),
    _misses("streams.upset-by-comments", "does not understand comments", "HTTP-65", "with comments"),
)


@on_request("does not send messages to the announced endpoint", breaks="SSE-03")
def one_address(request: Request, client: ScriptedClient) -> Request:
    if request.target.endswith(MESSAGES):
        request.target = request.target.removesuffix(MESSAGES) + "/mcp"
    return request


@on_request("does not use the announced endpoint", breaks="SSE-06")
def deaf_to_endpoint(request: Request, client: ScriptedClient) -> Request | None:
    return None if request.target.endswith(MESSAGES) else request


@on_message("retries a broken request under its old id", breaks="HTTP-22", transports=HTTP_ONLY)
def same_request(message: Json, client: ScriptedClient) -> Json:
    return {**message, "id": "fragile"} if is_call(message, FRAGILE) else message


_resuming = partial(behaviour, scenario="streams.resumed")
BEHAVIOURS: Final = (
    _resuming("streams.stays-away", "does not resume a broken stream", breaks="HTTP-24", resumes=False),
    _resuming(
        "streams.comes-back-at-once", "ignores the `retry` delay", breaks="HTTP-26", honours_retry=False
    ),
    _resuming(
        "streams.last-event-unnamed", "sends no `Last-Event-ID`", breaks="HTTP-34", names_last_event=False
    ),
    behaviour(
        "streams.leaves-in-silence", "cancels nothing after a timeout", breaks="HTTP-19", cancels=False
    ),
)
