"""POST requests, the version header, and icons."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, calls_at, calls_of, describes_itself, endpoint_calls, handshakes
from assay.lab.harness import Json, Observation, Request, Trace, check, observe
from assay.lab.harness.links.http_text import EVENT_STREAM, JSON, Head, body_of
from assay.lab.harness.sabotage.client_saboteur import behaviour, misbehaving, on_message, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.web import WebClient
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored_header import VERSION
from assay.revisions.registry import BY_DATE, DATES
from assay.revisions.revision import Batching

from .sessions import opens

# --- what is asked


IMAGE = b"\x89PNG\r\n\x1a\n"


@client_scenario(
    "Icons are not trusted",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(AFTER))),
    exercises=("http.icons",),
    transports=HTTP_ONLY,
)
async def drive_icons(stage: ClientStage) -> None:
    async def serve(request: InboundRequest, reply: HttpReply) -> None:
        await reply.respond(200, IMAGE, [("Content-Type", "image/png")])

    elsewhere = await stage.add_server(ROOM, serve)

    @stage.server.on_http
    async def lead_away(request: InboundRequest, reply: HttpReply) -> bool:
        if request.path != OWN:
            return False
        await reply.respond(302, b"", [("Location", f"{elsewhere}{REDIRECTED}")])
        return True

    sources = (f"{stage.origin}{OWN}", f"{elsewhere}{DIRECT}", "javascript:alert(1)")
    icons = [{"src": one, "mimeType": "image/png"} for one in sources]
    stage.server.add_tool({"name": AFTER, "icons": icons})


# --- how it is judged


@check(
    "A message is a POST of its own",
    requirements=("HTTP-06", "HTTP-07", "HTTP-08", "HTTP-27"),
    everywhere=True,
    transports=HTTP_ONLY,
)
def judge_posts(trace: Trace) -> Iterator[Observation]:
    batches = trace.revision.batching is Batching.ACCEPTED
    for call in endpoint_calls(trace):
        method = call.sent.method
        if call.request_messages and any(one.fields for one in call.request_messages):
            alone = method == "POST" and (batches or len(call.request_messages) == 1)
            observed = f"{len(call.request_messages)} in a {method}"
            yield observe("HTTP-06", alone, call, expected="one message in a POST", observed=observed)
        if method == "POST":
            yield from _posted(call, batches)
        elif method == "GET":
            accepts = EVENT_STREAM in accepted(call.sent)
            yield observe("HTTP-27", accepts, call, expected=f"Accept: {EVENT_STREAM}", observed=_told(call))


def _posted(call: Call, batches: bool) -> Iterator[Observation]:
    both = {JSON, EVENT_STREAM} <= accepted(call.sent)
    yield observe("HTTP-07", both, call, expected=f"Accept: {JSON}, {EVENT_STREAM}", observed=_told(call))
    messages = [one for one in call.request_messages if one.method or one.is_response]
    whole = bool(messages) and len(messages) == len(call.request_messages)
    one = batches or all(message.place is None for message in messages)
    observed = f"{body_of(call.request.raw)[:80]!r}"
    yield observe("HTTP-08", whole and one, call, expected="a body that is one message", observed=observed)


def accepted(head: Head) -> set[str]:
    """The media types of all `Accept` headers, parameters left out."""
    members = ",".join(head.all("accept")).split(",")
    return {one.partition(";")[0].strip().lower() for one in members}


def _told(call: Call) -> str:
    return f"Accept: {', '.join(call.sent.all('accept')) or 'nothing'}"


ROOM = "icons"
OWN, DIRECT, REDIRECTED = "/own.png", "/direct.png", "/redirected.png"
SECRET = ("authorization", "cookie", "mcp-session-id")


@check("Icons are not trusted", requirements=("IC-02", "IC-03"), transports=HTTP_ONLY)
def judge_icons(trace: Trace) -> Iterator[Observation]:
    fetched = calls_at(trace, ROOM)
    after = calls_of(trace, AFTER)
    moved = [one for one in fetched if one.sent.target.startswith(REDIRECTED)]
    direct = [one for one in fetched if one.sent.target.startswith(DIRECT)]
    known = [one for one in trace.calls if one.sent.target.endswith(OWN)]
    named = [one for one in known if any(one.sent.get(name) is not None for name in SECRET)]
    if moved or after:
        expected = "no redirect followed to another origin"
        yield observe("IC-02", not moved, *moved, *after[:1], expected=expected, observed="it was followed")
    if direct or named or after:
        expected = "no icon of another origin, and no credentials"
        observed = "credentials" if named else "an icon of another origin was fetched"
        yield observe(
            "IC-03",
            not direct and not named,
            *direct,
            *named,
            *after[:1],
            expected=expected,
            observed=observed,
        )


HEADER = "MCP-Protocol-Version"


@check(
    "Requests name the agreed version",
    requirements=("HTTP-44", "HTTP-45"),
    everywhere=True,
    transports=HTTP_ONLY,
)
def judge_agreed_version(trace: Trace) -> Iterator[Observation]:
    agreed = [(one.answered, BY_DATE[one.agreed]) for one in handshakes(trace) if one.agreed in BY_DATE]
    for call in endpoint_calls(trace):
        known = [revision for since, revision in agreed if since < call.request.n]
        if not known or opens(call) or any(map(describes_itself, call.request_messages)):
            continue
        if not all(revision.http.version_header for revision in known):
            continue
        given = call.sent.get(HEADER)
        yield observe("HTTP-44", given is not None, call, expected=HEADER, observed="no such header")
        if given is not None:
            right = given in {revision.date for revision in known}
            expected, observed = f"{HEADER}: {known[-1]}", given
            yield observe("HTTP-45", right, call, expected=expected, observed=observed)


# --- what the checks must catch


@on_message("a POST holds two messages", breaks="HTTP-06", transports=HTTP_ONLY)
def two_in_one(message: Json, client: ScriptedClient) -> Any:
    if message.get("method") != "tools/call":
        return message
    return json.dumps([message, {"jsonrpc": "2.0", "method": "notifications/lab"}]).encode()


@on_request("a POST accepts JSON only", breaks="HTTP-07")
def wants_json_only(request: Request, client: ScriptedClient) -> Request:
    if request.method == "POST":
        request.set("Accept", "application/json")
    return request


@on_message("the body of a POST is a text", breaks="HTTP-08", transports=HTTP_ONLY)
def no_message(message: Json, client: ScriptedClient) -> Any:
    return b'"call"' if message.get("method") == "tools/call" else message


@on_request("a GET does not ask for events", breaks="HTTP-27")
def wants_anything(request: Request, client: ScriptedClient) -> Request:
    if request.method == "GET":
        request.set("Accept", "*/*")
    return request


@misbehaving("a redirect of an icon to another origin is followed", breaks="IC-02")
async def icon_redirect(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps([LIST_TOOLS])
    away = await WebClient(client).fetch("GET", client.tools[AFTER]["icons"][0]["src"])
    await WebClient(client).fetch("GET", away.head.get("location") or "")


@misbehaving("an icon of another origin is fetched", breaks="IC-03")
async def icon_elsewhere(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps([LIST_TOOLS])
    await WebClient(client).fetch("GET", client.tools[AFTER]["icons"][1]["src"])


@on_request("the version in the head is another than the agreed one", breaks="HTTP-45", scenario="tools_call")
def another_version(request: Request, client: ScriptedClient) -> Request:
    if request.header(VERSION) is not None:
        request.set(VERSION, DATES[0])
    return request


BEHAVIOURS: Final = (
    behaviour(
        "http.no-agreed-version",
        "requests after a handshake name no version",
        breaks="HTTP-44",
        scenario="tools_call",
        sends_version=False,
    ),
)
