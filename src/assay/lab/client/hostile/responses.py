"""Hostile HTTP responses: bad, redirected, slow or very large."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from assay.lab.client.altered_message import within
from assay.lab.client.auth.protected_server import CODE_GRANT, WITH_RESOURCES, protect
from assay.lab.client.canary import CANARY, open_canary
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, calls_at, calls_of, has_ended
from assay.lab.harness import Json, Observation, Request, Trace, check, observe
from assay.lab.harness.links.http_call import Address
from assay.lab.harness.links.http_text import EVENT_STREAM, JSON, body_of
from assay.lab.harness.sabotage.client_saboteur import misbehaving, on_received, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import StepFailed
from assay.lab.harness.scripted_server.answer import DONE, Answer, Raw
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.http_listener import HttpChannel
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.request_cycle import RequestCycle, encode
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.transport import HTTP_ONLY, Transport
from assay.protocol.framing import lines, sse, websocket

from .hostile_server import ECHO, WELL, add_shaped, answer_to, called, echoed, trying, undeterred

# --- how it is judged


SHORT: Final = "cut_short"
_PAGE: Final = b"<html><body>Bad gateway</body></html>"


def _type(value: str) -> list[tuple[str, str]]:
    return [("Content-Type", value)]


KINDS: Final[Mapping[str, tuple[int, list[tuple[str, str]], bytes]]] = {
    "error_500": (500, _type("text/plain"), b"out of order"),
    "error_502": (502, _type("text/html"), _PAGE),
    "error_503": (503, [("Retry-After", "0")], b""),
    "error_429": (429, [("Retry-After", "0")], b""),
    "page": (200, _type("text/html"), _PAGE),
    "untyped": (200, [], b"ANSWER"),
    "empty": (200, _type(JSON), b""),
    "accepted": (202, [], b""),
    "events_as_json": (200, _type(JSON), b"data: ANSWER\n\n"),
    "json_as_events": (200, _type(EVENT_STREAM), b"ANSWER"),
    SHORT: (200, _type(EVENT_STREAM), b"data: ANSW"),
}
"""What a call of that name gets: a status, headers, and a body in which the right answer may be."""


@client_scenario(
    "A bad response is bad for its request only",
    script=trying(KINDS),
    exercises=("hostile.bad-responses",),
    transports=HTTP_ONLY,
)
async def drive_bad_responses(stage: ClientStage) -> None:
    server = stage.server
    for kind in (*KINDS, AFTER):
        server.add_tool({"name": kind})

    @server.on_http
    async def answer(request: InboundRequest, reply: HttpReply) -> bool:
        number, tool = called(request)
        if tool not in KINDS:
            return False
        status, headers, body = KINDS[tool]
        answer = encode({"jsonrpc": "2.0", "id": number, "result": server.shaped("tools/call", WELL)})
        whole = body.replace(b"ANSWER", answer)
        if tool == SHORT:
            await reply.stream()
            await reply.block(whole)
            reply.cut()
        else:
            await reply.respond(status, whole, headers)
        return True


AWAY: Final = {"away_307": 307, "away_308": 308, "away_302": 302}
"""Tools, and the status of the response that leads away from them."""


@client_scenario(
    "Nothing is carried to where a redirect leads",
    script=trying(AWAY, oauth=CODE_GRANT),
    exercises=("hostile.redirected",),
    transports=HTTP_ONLY,
    window=WITH_RESOURCES,
)
async def drive_redirected(stage: ClientStage) -> None:
    await protect(stage)
    port = await open_canary(stage)
    for name in (*AWAY, AFTER):
        stage.server.add_tool({"name": name})

    @stage.server.on_http
    async def send_away(request: InboundRequest, reply: HttpReply) -> bool:
        status = AWAY.get(called(request)[1])
        if status is not None:
            await reply.respond(status, b"", [("Location", f"http://127.0.0.1:{port}/mcp")])
        return status is not None


PAUSE = 0.001
"""Seconds between two bytes."""


@client_scenario(
    "A message that comes byte by byte is understood",
    script=ClientScript(steps=(LIST_TOOLS, ECHO)),
    exercises=("hostile.slow-bytes",),
)
async def drive_slow_bytes(stage: ClientStage) -> None:
    add_shaped(stage.server, TITLE)

    @stage.server.on("tools/list")
    async def tools(cycle: RequestCycle) -> Answer:
        whole, write = await _way(cycle, answer_to(cycle, {"tools": cycle.server.items["tools"]}))
        for place in range(len(whole)):
            await write(whole[place : place + 1])
            await asyncio.sleep(PAUSE)
        await cycle.channel.finish()
        return DONE


async def _way(cycle: RequestCycle, body: bytes) -> tuple[bytes, Callable[[bytes], Awaitable[None]]]:
    """The message as the transport frames it, and how to send it in pieces. The trace has it whole."""
    channel, record = cycle.channel, cycle.server.recorder.record
    if isinstance(channel, HttpChannel):
        await channel.http.stream()
        block = sse.event(body)
        record(Sender.DRIVER, channel.http.channel, Kind.EVENT, block)
        return b"%x\r\n%b\r\n" % (len(block), block), channel.http.write
    if cycle.server.transport is Transport.WEBSOCKET:
        record(Sender.DRIVER, f"{channel.connection}/ws", Kind.TEXT, body)
        return websocket.text_frame(body), _written(channel.raw)
    return lines.frame(body), _written(channel.raw)


def _written(raw: Callable[[bytes], Awaitable[None]]) -> Callable[[bytes], Awaitable[None]]:
    async def write(data: bytes) -> None:
        await raw(data)

    return write


BYTES = 4 * 1024 * 1024
DEPTH = 100_000
DEEP: Final = "deep"
LARGE: Final = "large"


@client_scenario(
    "An answer that is too much is no reason to end",
    script=trying((LARGE, DEEP)),
    exercises=("hostile.large-answers",),
)
async def drive_large_answers(stage: ClientStage) -> None:
    async def large(cycle: RequestCycle) -> Answer:
        return {"content": [{"type": "text", "text": "x" * BYTES}]}

    async def deep(cycle: RequestCycle) -> Answer:
        answer = answer_to(cycle, {"content": [], "_meta": {"lab/deep": []}})
        return Raw(answer.replace(b"[]}", b"[" * DEPTH + b"]" * DEPTH + b"}", 1))

    stage.server.add_tool({"name": LARGE}, large)
    stage.server.add_tool({"name": DEEP}, deep)
    stage.server.add_tool({"name": AFTER})


UNDETERRED, BOUNDED = "HOSTILE-06", "HOSTILE-07"
MOST: Final = 20
"""Times that one failing request may be made: who makes it more often has no bound."""


@check("A bad response is bad for its request only", requirements=(UNDETERRED, BOUNDED), transports=HTTP_ONLY)
def judge_bad_responses(trace: Trace) -> Iterator[Observation]:
    yield from undeterred(UNDETERRED, trace, KINDS, "the client to go on, whatever became of that call")
    for kind in KINDS:
        made = calls_of(trace, kind)
        if made and (has_ended(trace) or len(made) > MOST):
            expected, observed = f"at most {MOST} tries", f"{len(made)} calls of {kind!r}"
            yield observe(BOUNDED, len(made) <= MOST, *made[-2:], expected=expected, observed=observed)


TOKEN, MESSAGE = "HOSTILE-12", "HOSTILE-13"


@check("Nothing is carried to where a redirect leads", requirements=(TOKEN, MESSAGE), transports=HTTP_ONLY)
def judge_redirected(trace: Trace) -> Iterator[Observation]:
    sent = [one for name in AWAY for one in calls_of(trace, name)]
    came = calls_at(trace, CANARY)
    bearing = [one for one in sent if _bears(trace, one.request.frame.channel)]
    if not came and not (sent and (calls_of(trace, AFTER) or has_ended(trace))):
        return
    if came or bearing:
        shown = [one for one in came if one.sent.get("authorization") is not None]
        expected = "no Authorization header at another origin"
        yield observe(TOKEN, not shown, *sent[:1], *shown[:1], expected=expected, observed="the token")
    told = [one for one in came if body_of(one.request.raw)]
    expected = "no message at another origin"
    observed = f"{len(told)} messages"
    yield observe(MESSAGE, not told, *sent[:1], *told[:1], expected=expected, observed=observed)


def _bears(trace: Trace, channel: str) -> bool:
    """Whether the request had a token that could have gone along."""
    own = (one for one in trace.calls if one.channel == channel)
    return any(one.sent.get("authorization") is not None for one in own)


ROW = "HOSTILE-08"
TITLE: Final = "Grüße, 漢字 🎉"


@check("A message in pieces is one message", requirements=(ROW,))
def judge_slow_bytes(trace: Trace) -> Iterator[Observation]:
    given = list(echoed(trace))
    expected = f"the schema with the title {TITLE!r}"
    for one, title in given:
        yield observe(ROW, title == TITLE, one, expected=expected, observed=f"{title!r}")
    if not given and has_ended(trace):
        for one in list(trace.inquiries("tools/list"))[:1]:
            yield observe(ROW, False, one, expected=expected, observed="the client made nothing of the list")


LARGE_ANSWERS_ROW = "HOSTILE-05"


@check("An answer that is too much ends nothing", requirements=(LARGE_ANSWERS_ROW,))
def judge_large_answers(trace: Trace) -> Iterator[Observation]:
    return undeterred(
        LARGE_ANSWERS_ROW, trace, (LARGE, DEEP), "the client to go on, whatever became of that call"
    )


# --- what the checks must catch


@misbehaving(
    "an HTTP error ends the client",
    breaks="HOSTILE-06",
    scenario="hostile.bad-responses",
    transports=HTTP_ONLY,
)
async def error_ends_it(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"][:2])
    raise StepFailed("the server answered with HTTP status 500")


@misbehaving(
    "a call that fails is made over and over",
    breaks="HOSTILE-07",
    scenario="hostile.bad-responses",
    transports=HTTP_ONLY,
)
async def tries_without_end(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps([LIST_TOOLS])
    for _ in range(MOST + 1):
        with suppress(StepFailed):
            await client.run_steps([call_tool("error_500")])


@on_request(
    "a token is shown wherever a redirect leads",
    breaks="HOSTILE-12",
    scenario="hostile.redirected",
    behaviour={"follows_redirects": True},
)
def token_goes_along(request: Request, client: ScriptedClient) -> Request:
    shown = request.header("authorization")
    if request.header("host") == Address.of(client.setup.url).authority:
        client.memory["shown"] = shown
    elif request.target == "/mcp" and client.memory.get("shown"):
        request.set("Authorization", client.memory["shown"])
    return request


@on_request(
    "a message is sent again to another origin, though without its token",
    breaks="HOSTILE-13",
    scenario="hostile.redirected",
    behaviour={"follows_redirects": True},
)
def message_goes_along(request: Request, client: ScriptedClient) -> Request:
    if request.header("host") != Address.of(client.setup.url).authority:
        request.headers = [pair for pair in request.headers if pair[0].lower() != "authorization"]
    return request


@on_received("letters of several bytes that come in pieces are lost", breaks="HOSTILE-08")
def letters_cut(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("result",), _torn)


def _torn(result: Json) -> Json:
    if "tools" not in result:
        return result
    return {**result, "tools": [within(one, ("inputSchema",), _mangled) for one in result["tools"]]}


def _mangled(schema: Json) -> Json:
    title = str(schema.get("title", ""))
    return {**schema, "title": title.encode().decode("latin-1")}


@misbehaving(
    "an answer of some megabytes ends the client", breaks="HOSTILE-05", scenario="hostile.large-answers"
)
async def size_ends_it(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"][:2])
    raise StepFailed("the answer is too large")
