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

from .hostile_server import (
    ECHO,
    RESULT,
    answer_to,
    call_each,
    echoed_titles,
    observe_survived,
    stops,
    titled_tools,
    tool_call,
)

# --- what is asked


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
"""The response to a call of that name: status, headers, and a body that may contain the right answer."""


@client_scenario(
    "Answer calls with HTTP errors and contradictory responses",
    script=call_each(KINDS),
    exercises=("hostile.bad-responses",),
    transports=HTTP_ONLY,
)
async def drive_bad_responses(stage: ClientStage) -> None:
    server = stage.server
    for kind in (*KINDS, AFTER):
        server.add_tool({"name": kind})

    @server.on_http
    async def answer(request: InboundRequest, reply: HttpReply) -> bool:
        id, tool = tool_call(request)
        if tool not in KINDS:
            return False
        status, headers, body = KINDS[tool]
        answer = encode({"jsonrpc": "2.0", "id": id, "result": server.shaped("tools/call", RESULT)})
        body = body.replace(b"ANSWER", answer)
        if tool == SHORT:
            await reply.stream()
            await reply.block(body)
            reply.cut()
        else:
            await reply.respond(status, body, headers)
        return True


REDIRECTS: Final = {"away_307": 307, "away_308": 308, "away_302": 302}
"""The status of the redirect, by tool."""


@client_scenario(
    "Redirect calls to another origin",
    script=call_each(REDIRECTS, oauth=CODE_GRANT),
    exercises=("hostile.redirected",),
    transports=HTTP_ONLY,
    window=WITH_RESOURCES,
)
async def drive_redirected(stage: ClientStage) -> None:
    await protect(stage)
    port = await open_canary(stage)
    for name in (*REDIRECTS, AFTER):
        stage.server.add_tool({"name": name})

    @stage.server.on_http
    async def redirect(request: InboundRequest, reply: HttpReply) -> bool:
        status = REDIRECTS.get(tool_call(request)[1])
        if status is not None:
            await reply.respond(status, b"", [("Location", f"http://127.0.0.1:{port}/mcp")])
        return status is not None


PAUSE: Final = 0.001
"""Seconds between two bytes."""
TITLE: Final = "Grüße, 漢字 🎉"


@client_scenario(
    "Send a message byte by byte",
    script=ClientScript(steps=(LIST_TOOLS, ECHO)),
    exercises=("hostile.slow-bytes",),
)
async def drive_slow_bytes(stage: ClientStage) -> None:
    for tool in titled_tools(TITLE):
        stage.server.add_tool(tool)

    @stage.server.on("tools/list")
    async def tools(cycle: RequestCycle) -> Answer:
        message = answer_to(cycle, {"tools": cycle.server.items["tools"]})
        data, write = await _framed(cycle, message)
        for place in range(len(data)):
            await write(data[place : place + 1])
            await asyncio.sleep(PAUSE)
        await cycle.channel.finish()
        return DONE


async def _framed(cycle: RequestCycle, body: bytes) -> tuple[bytes, Callable[[bytes], Awaitable[object]]]:
    """The bytes of a message on its transport, and a function to send them. The trace has it as a whole."""
    channel, record = cycle.channel, cycle.server.recorder.record
    if isinstance(channel, HttpChannel):
        await channel.http.stream()
        block = sse.event(body)
        record(Sender.DRIVER, channel.http.channel, Kind.EVENT, block)
        return b"%x\r\n%b\r\n" % (len(block), block), channel.http.write
    if cycle.server.transport is Transport.WEBSOCKET:
        record(Sender.DRIVER, f"{channel.connection}/ws", Kind.TEXT, body)
        return websocket.text_frame(body), channel.raw
    return lines.frame(body), channel.raw


BYTES: Final = 4 * 1024 * 1024
DEPTH: Final = 100_000
DEEP: Final = "deep"
LARGE: Final = "large"


@client_scenario(
    "Send a very large and a very deep answer",
    script=call_each((LARGE, DEEP)),
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


# --- how it is judged


CONTINUES: Final = "the client to continue, whether that call failed or not"
MOST: Final = 20
"""Attempts at one failing request; a client that makes more has no limit."""


@check(
    "A bad response fails at most its own request",
    requirements=("HOSTILE-06", "HOSTILE-07"),
    transports=HTTP_ONLY,
)
def judge_bad_responses(trace: Trace) -> Iterator[Observation]:
    yield from observe_survived("HOSTILE-06", trace, KINDS, CONTINUES)
    for kind in KINDS:
        calls = calls_of(trace, kind)
        if calls and (has_ended(trace) or len(calls) > MOST):
            holds = len(calls) <= MOST
            expected, observed = f"at most {MOST} attempts", f"{len(calls)} calls of {kind!r}"
            yield observe("HOSTILE-07", holds, *calls[-2:], expected=expected, observed=observed)


@check(
    "Neither tokens nor messages follow a redirect to another origin",
    requirements=("HOSTILE-12", "HOSTILE-13"),
    transports=HTTP_ONLY,
)
def judge_redirected(trace: Trace) -> Iterator[Observation]:
    calls = [call for name in REDIRECTS for call in calls_of(trace, name)]
    requests = calls_at(trace, CANARY)
    if not requests and not (calls and (calls_of(trace, AFTER) or has_ended(trace))):
        return
    channels = {call.request.frame.channel for call in calls}
    authorized = [call for call in trace.calls if call.sent.get("authorization") is not None]
    if requests or any(call.channel in channels for call in authorized):
        leaks = [request for request in requests if request in authorized]
        expected = "no Authorization header at another origin"
        yield observe(
            "HOSTILE-12", not leaks, *calls[:1], *leaks[:1], expected=expected, observed="the token"
        )
    messages = [request for request in requests if body_of(request.request.raw)]
    expected, observed = "no message at another origin", f"{len(messages)} messages"
    yield observe("HOSTILE-13", not messages, *calls[:1], *messages[:1], expected=expected, observed=observed)


@check("A message that arrives byte by byte is read like any other", requirements=("HOSTILE-08",))
def judge_slow_bytes(trace: Trace) -> Iterator[Observation]:
    titles = list(echoed_titles(trace))
    expected = f"the schema with the title {TITLE!r}"
    for call, title in titles:
        yield observe("HOSTILE-08", title == TITLE, call, expected=expected, observed=f"{title!r}")
    if not titles and has_ended(trace):
        for page in list(trace.subject_exchanges("tools/list"))[:1]:
            observed = "the client did not understand the list"
            yield observe("HOSTILE-08", False, page, expected=expected, observed=observed)


@check("A very large or deep answer fails at most its own request", requirements=("HOSTILE-05",))
def judge_large_answers(trace: Trace) -> Iterator[Observation]:
    return observe_survived("HOSTILE-05", trace, (LARGE, DEEP), CONTINUES)


# --- what the checks must catch


@misbehaving(
    "repeats a failing call without limit",
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


def _is_own(request: Request, client: ScriptedClient) -> bool:
    """Whether the request goes to the server, not to the target of a redirect."""
    return request.header("host") == Address.of(client.setup.url).authority


@on_request(
    "sends its token wherever a redirect leads",
    breaks="HOSTILE-12",
    scenario="hostile.redirected",
    behaviour={"follows_redirects": True},
)
def token_goes_along(request: Request, client: ScriptedClient) -> Request:
    if _is_own(request, client):
        client.memory["token"] = request.header("authorization")
    elif request.target == "/mcp" and client.memory.get("token"):
        request.set("Authorization", client.memory["token"])
    return request


@on_request(
    "sends a message again to another origin, without its token",
    breaks="HOSTILE-13",
    scenario="hostile.redirected",
    behaviour={"follows_redirects": True},
)
def message_goes_along(request: Request, client: ScriptedClient) -> Request:
    if not _is_own(request, client):
        request.set("Authorization", None)
    return request


@on_received("decodes each byte as a character", breaks="HOSTILE-08")
def letters_cut(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("result",), _misread)


def _misread(result: Json) -> Json:
    def change(schema: Json) -> Json:
        return {**schema, "title": str(schema.get("title", "")).encode().decode("latin-1")}

    tools = [within(tool, ("inputSchema",), change) for tool in result.get("tools", ())]
    return {**result, "tools": tools} if tools else result


STOPPED: Final = (
    stops(
        "error-ends-it",
        "an HTTP error",
        breaks="HOSTILE-06",
        scenario="hostile.bad-responses",
        transports=HTTP_ONLY,
    ),
    stops("size-ends-it", "a large answer", breaks="HOSTILE-05", scenario="hostile.large-answers"),
)
