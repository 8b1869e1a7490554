"""POST requests, the version header, and icons."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.client.altered_message import after_call, alters_header
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, calls_at, calls_of, describes_itself, endpoint_calls, handshakes
from assay.lab.harness import Json, Observation, Request, Trace, check, observe
from assay.lab.harness.links.http_text import EVENT_STREAM, JSON, body_of
from assay.lab.harness.sabotage.client_saboteur import behaviour, misbehaving, on_message, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.web import WebClient, WebResponse
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored_header import VERSION
from assay.revisions.registry import BY_DATE, DATES
from assay.revisions.revision import Batching

from .sessions import opens_session

ICONS: Final = "icons"
OWN: Final = "/own.png"
DIRECT: Final = "/direct.png"
REDIRECTED: Final = "/redirected.png"

# --- what is asked


@client_scenario(
    "Offer icons with unsafe sources",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(AFTER))),
    exercises=("http.icons",),
    transports=HTTP_ONLY,
)
async def drive_icons(stage: ClientStage) -> None:
    async def serve(request: InboundRequest, reply: HttpReply) -> None:
        await reply.respond(200, b"\x89PNG\r\n\x1a\n", [("Content-Type", "image/png")])

    other = await stage.add_server(ICONS, serve)

    @stage.server.on_http
    async def redirect(request: InboundRequest, reply: HttpReply) -> bool:
        if request.path != OWN:
            return False
        await reply.respond(302, b"", [("Location", f"{other}{REDIRECTED}")])
        return True

    sources = (f"{stage.origin}{OWN}", f"{other}{DIRECT}", "javascript:alert(1)")
    icons = [{"src": source, "mimeType": "image/png"} for source in sources]
    stage.server.add_tool({"name": AFTER, "icons": icons})


# --- how it is judged


@check(
    "Each message is sent in its own POST",
    requirements=("HTTP-06", "HTTP-07", "HTTP-08", "HTTP-27"),
    everywhere=True,
    transports=HTTP_ONLY,
)
def judge_posts(trace: Trace) -> Iterator[Observation]:
    batches = trace.revision.batching is Batching.ACCEPTED
    for call in endpoint_calls(trace):
        method = call.sent.method
        if any(message.fields for message in call.request_messages):
            holds = method == "POST" and (batches or len(call.request_messages) == 1)
            observed = f"{len(call.request_messages)} in a {method}"
            yield observe("HTTP-06", holds, call, expected="one message in a POST", observed=observed)
        if method == "POST":
            yield _judge_accept("HTTP-07", call, JSON, EVENT_STREAM)
            messages = [message for message in call.request_messages if message.method or message.is_response]
            valid = bool(messages) and len(messages) == len(call.request_messages)
            single = batches or all(message.place is None for message in messages)
            observed = f"{body_of(call.request.raw)[:80]!r}"
            yield observe("HTTP-08", valid and single, call, expected="one message", observed=observed)
        elif method == "GET":
            yield _judge_accept("HTTP-27", call, EVENT_STREAM)


def _judge_accept(requirement: str, call: Call, *required: str) -> Observation:
    values = call.sent.all("accept")
    accepted = {member.partition(";")[0].strip().lower() for member in ",".join(values).split(",")}
    expected, observed = f"Accept: {', '.join(required)}", f"Accept: {', '.join(values) or 'nothing'}"
    return observe(requirement, accepted.issuperset(required), call, expected=expected, observed=observed)


SECRET: Final = ("authorization", "cookie", "mcp-session-id")


@check("Icons are untrusted", requirements=("IC-02", "IC-03"), transports=HTTP_ONLY)
def judge_icons(trace: Trace) -> Iterator[Observation]:
    fetched = calls_at(trace, ICONS)
    after = calls_of(trace, AFTER)[:1]
    redirected = [call for call in fetched if call.sent.target.startswith(REDIRECTED)]
    foreign = [call for call in fetched if call.sent.target.startswith(DIRECT)]
    own = [call for call in trace.calls if call.sent.target.endswith(OWN)]
    secret = [call for call in own if any(call.sent.get(name) is not None for name in SECRET)]
    if redirected or after:
        expected, observed = "no redirect followed to another origin", "it was followed"
        yield observe("IC-02", not redirected, *redirected, *after, expected=expected, observed=observed)
    if foreign or secret or after:
        unsafe = (*foreign, *secret)
        expected = "no icon of another origin, and no credentials"
        observed = "credentials" if secret else "an icon of another origin was fetched"
        yield observe("IC-03", not unsafe, *unsafe, *after, expected=expected, observed=observed)


@check(
    "Requests after the handshake name the negotiated version",
    requirements=("HTTP-44", "HTTP-45"),
    everywhere=True,
    transports=HTTP_ONLY,
)
def judge_agreed_version(trace: Trace) -> Iterator[Observation]:
    agreed = [
        (handshake.answered, BY_DATE[handshake.agreed])
        for handshake in handshakes(trace)
        if handshake.agreed in BY_DATE
    ]
    for call in endpoint_calls(trace):
        revisions = [revision for since, revision in agreed if since < call.request.n]
        if not revisions or opens_session(call) or any(map(describes_itself, call.request_messages)):
            continue
        if not all(revision.http.version_header for revision in revisions):
            continue
        version = call.sent.get(VERSION)
        yield observe("HTTP-44", version is not None, call, expected=VERSION, observed="no such header")
        if version is not None:
            holds = version in {revision.date for revision in revisions}
            expected = f"{VERSION}: {revisions[-1]}"
            yield observe("HTTP-45", holds, call, expected=expected, observed=version)


# --- what the checks must catch


@on_message("sends two messages in one POST", breaks="HTTP-06", transports=HTTP_ONLY)
def two_in_one(message: Json, client: ScriptedClient) -> Any:
    messages = after_call(message, {"jsonrpc": "2.0", "method": "notifications/lab"})
    return json.dumps(messages).encode() if isinstance(messages, list) else message


@on_message("sends text as the body of a POST", breaks="HTTP-08", transports=HTTP_ONLY)
def no_message(message: Json, client: ScriptedClient) -> Any:
    return b'"call"' if message.get("method") == "tools/call" else message


@on_request("accepts only JSON in POSTs", breaks="HTTP-07")
def wants_json_only(request: Request, client: ScriptedClient) -> Request:
    if request.method == "POST":
        request.set("Accept", "application/json")
    return request


@on_request("does not accept event streams in GETs", breaks="HTTP-27")
def wants_anything(request: Request, client: ScriptedClient) -> Request:
    if request.method == "GET":
        request.set("Accept", "*/*")
    return request


@misbehaving("follows a redirect of an icon to another origin", breaks="IC-02")
async def icon_redirect(client: ScriptedClient) -> None:
    response = await _fetch_icon(client, 0)
    await WebClient(client).fetch("GET", response.head.get("location") or "")


@misbehaving("fetches an icon of another origin", breaks="IC-03")
async def icon_elsewhere(client: ScriptedClient) -> None:
    await _fetch_icon(client, 1)


async def _fetch_icon(client: ScriptedClient, place: int) -> WebResponse:
    await client.open()
    await client.run_steps([LIST_TOOLS])
    return await WebClient(client).fetch("GET", client.tools[AFTER]["icons"][place]["src"])


VERSIONS: Final = (
    alters_header(
        "http.another-version",
        "names another version than the negotiated one",
        "HTTP-45",
        VERSION,
        lambda version: DATES[0],
        scenario="tools_call",
    ),
    behaviour(
        "http.no-agreed-version",
        "names no version after the handshake",
        breaks="HTTP-44",
        scenario="tools_call",
        sends_version=False,
    ),
)
