"""Headers that repeat the method and name in the body."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import msgspec

from assay.lab.client.altered_message import alters_header
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, HANDSHAKE_METHODS, endpoint_calls, observe_continued
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.driver.message_meta import as_header
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.sabotage.client_saboteur import behaviour, on_received
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, step
from assay.lab.harness.scripted_server.http_listener import HttpChannel
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored_header import ENCODED, METHOD, NAME, VERSION, Mirror, standard_mirrors
from assay.revisions.registry import DATES

ODD: Final = "odd_case"
ODD_NAME: Final = "Grüße aus Łódź"

# --- what is asked


@client_scenario(
    "Offer a prompt whose name is not ASCII",
    script=ClientScript(steps=(step("list_prompts"), step("get_prompt", name=ODD_NAME, arguments={}))),
    exercises=("http.mirrored",),
    transports=HTTP_ONLY,
)
async def drive_odd_names(stage: ClientStage) -> None:
    stage.server.add_prompt(ODD_NAME)


@client_scenario(
    "Write the names of response headers in unusual case",
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


# --- how it is judged


@check("Header names are not case-sensitive", requirements=("HTTP-61",), transports=HTTP_ONLY)
def judge_header_case(trace: Trace) -> Iterator[Observation]:
    expected = "a response with header names in unusual case to be understood"
    return observe_continued("HTTP-61", trace, ODD, expected)


BY_HEADER: Final = {VERSION: "HTTP-49", METHOD: "HTTP-54", NAME: "HTTP-55"}


@check(
    "Headers repeat the version, method and name of the body",
    requirements=("HTTP-48", *BY_HEADER.values(), "HTTP-56"),
    everywhere=True,
    transports=HTTP_ONLY,
)
def judge_mirrored(trace: Trace) -> Iterator[Observation]:
    for call in endpoint_calls(trace, "POST"):
        if any(message.method in HANDSHAKE_METHODS for message in call.request_messages):
            continue
        holds = call.sent.get(VERSION) is not None
        yield observe("HTTP-48", holds, call, expected=VERSION, observed="no such header")
        for mirror in standard_mirrors(call, trace.revision):
            if mirror.sent is not None or mirror.header != VERSION:
                yield _judge_mirror(call, mirror)


def _judge_mirror(call: Call, mirror: Mirror) -> Observation:
    encoded = as_header(mirror.value)
    requirement, holds = BY_HEADER[mirror.header], mirror.flaw is None
    if mirror.header == NAME and encoded != mirror.value and mirror.sent is not None:
        requirement, holds = "HTTP-56", holds and mirror.is_encoded
    else:
        encoded = mirror.value
    observed = f"{mirror.header}: {mirror.sent}" if mirror.sent is not None else f"no {mirror.header}"
    return observe(requirement, holds, call, expected=f"{mirror.header}: {encoded}", observed=observed)


# --- what the checks must catch


@on_received("does not understand header names in unusual case", breaks="HTTP-61")
def case_matters(message: Json, client: ScriptedClient) -> Json | None:
    return None if "in odd case" in str(message.get("result")) else message


def _percent_encoded(name: str) -> str:
    encoded = ENCODED.fullmatch(name)
    return quote(b64decode(encoded[1])) if encoded else name


IN_CALLS: Final[Json] = {"scenario": "tools_call"}
HEADERS: Final = (
    alters_header(
        "http.version-at-odds",
        "names another version in the header",
        "HTTP-49",
        VERSION,
        lambda _: DATES[0],
        **IN_CALLS,
    ),
    alters_header(
        "http.no-method-header", f"sends no {METHOD}", "HTTP-54", METHOD, lambda _: None, **IN_CALLS
    ),
    alters_header(
        "http.another-name", f"writes {NAME} in upper case", "HTTP-55", NAME, str.upper, **IN_CALLS
    ),
    alters_header(
        "http.percent-name", "percent-encodes a name that is not ASCII", "HTTP-56", NAME, _percent_encoded
    ),
    behaviour(
        "http.no-version-header", "sends no version header", breaks="HTTP-48", sends_version=False, **IN_CALLS
    ),
)
