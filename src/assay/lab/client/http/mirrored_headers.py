"""Headers that repeat the method and name in the body."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import msgspec

from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, HANDSHAKE_METHODS, endpoint_calls, observe_continued
from assay.lab.harness import Json, Observation, Request, Trace, check, observe
from assay.lab.harness.driver.message_meta import as_header
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.sabotage.client_saboteur import behaviour, on_received, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, step
from assay.lab.harness.scripted_server.http_listener import HttpChannel
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored_header import ENCODED, METHOD, VERSION, Mirror, standard_mirrors
from assay.lab.suite.mirrored_header import NAME as MIRRORED_HEADER_NAME
from assay.revisions.registry import DATES

# --- what is asked


NAME = "Grüße aus Łódź"


@client_scenario(
    "A name that is not ASCII is encoded in its header",
    script=ClientScript(steps=(step("list_prompts"), step("get_prompt", name=NAME, arguments={}))),
    exercises=("http.mirrored",),
    transports=HTTP_ONLY,
)
async def drive_odd_names(stage: ClientStage) -> None:
    stage.server.add_prompt(NAME)


# --- how it is judged


ODD = "odd_case"


@client_scenario(
    "Header names mean the same in any case",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(ODD), call_tool(AFTER))),
    exercises=("http.header-case",),
    transports=HTTP_ONLY,
)
async def drive_header_case(stage: ClientStage) -> None:
    async def answer(cycle: RequestCycle) -> Answer:
        content = {"content": [{"type": "text", "text": "in odd case"}]}
        if not isinstance(cycle.channel, HttpChannel):
            return content
        result = cycle.server.shaped("tools/call", content)
        body = msgspec.json.encode({"jsonrpc": "2.0", "id": cycle.id, "result": result})
        await cycle.channel.http.respond(200, body, [("cOnTeNt-TyPe", JSON)])
        return DONE

    stage.server.add_tool({"name": ODD}, answer)
    stage.server.add_tool({"name": AFTER})


@check("Header names are read in any case", requirements=("HTTP-61",), transports=HTTP_ONLY)
def judge_header_case(trace: Trace) -> Iterator[Observation]:
    yield from observe_continued("HTTP-61", trace, ODD, "an answer with odd header names to be understood")


ROWS = {VERSION: "HTTP-49", METHOD: "HTTP-54", MIRRORED_HEADER_NAME: "HTTP-55"}


@check(
    "Headers repeat the body",
    requirements=("HTTP-48", "HTTP-49", "HTTP-54", "HTTP-55", "HTTP-56"),
    everywhere=True,
    transports=HTTP_ONLY,
)
def judge_mirrored(trace: Trace) -> Iterator[Observation]:
    for call in endpoint_calls(trace, "POST"):
        if any(one.method in HANDSHAKE_METHODS for one in call.request_messages):
            continue
        named = call.sent.get(VERSION) is not None
        yield observe("HTTP-48", named, call, expected=VERSION, observed="no such header")
        for mirror in standard_mirrors(call, trace.revision):
            if mirror.sent is not None or mirror.header != VERSION:
                yield from _judged(call, mirror)


def _judged(call: Call, mirror: Mirror) -> Iterator[Observation]:
    observed = f"{mirror.header}: {mirror.sent}" if mirror.sent is not None else f"no {mirror.header}"
    if (
        mirror.header == MIRRORED_HEADER_NAME
        and as_header(mirror.value) != mirror.value
        and mirror.sent is not None
    ):
        right = mirror.is_encoded and mirror.flaw is None
        expected = f"{MIRRORED_HEADER_NAME}: {as_header(mirror.value)}"
        yield observe("HTTP-56", right, call, expected=expected, observed=observed)
    else:
        expected = f"{mirror.header}: {mirror.value}"
        yield observe(ROWS[mirror.header], mirror.flaw is None, call, expected=expected, observed=observed)


# --- what the checks must catch


@on_received("an answer with odd header names is not understood", breaks="HTTP-61")
def case_matters(message: Json, client: ScriptedClient) -> Json | None:
    return None if "in odd case" in str(message.get("result")) else message


@on_request("the version in the head is another than in the body", breaks="HTTP-49", scenario="tools_call")
def version_at_odds(request: Request, client: ScriptedClient) -> Request:
    if request.header(VERSION) is not None:
        request.set(VERSION, DATES[0])
    return request


@on_request("requests have no `Mcp-Method`", breaks="HTTP-54", scenario="tools_call")
def no_method_header(request: Request, client: ScriptedClient) -> Request:
    request.set("Mcp-Method", None)
    return request


@on_request("`Mcp-Name` is in capitals", breaks="HTTP-55", scenario="tools_call")
def another_name(request: Request, client: ScriptedClient) -> Request:
    if name := request.header("Mcp-Name"):
        request.set("Mcp-Name", name.upper())
    return request


@on_request("a name that is not ASCII is percent-encoded", breaks="HTTP-56")
def percent_name(request: Request, client: ScriptedClient) -> Request:
    given = request.header(MIRRORED_HEADER_NAME) or ""
    if found := ENCODED.fullmatch(given):
        request.set(MIRRORED_HEADER_NAME, quote(b64decode(found[1])))
    return request


BEHAVIOURS: Final = (
    behaviour(
        "http.no-version-header",
        "POSTs have no version in their head",
        breaks="HTTP-48",
        scenario="tools_call",
        sends_version=False,
    ),
)
