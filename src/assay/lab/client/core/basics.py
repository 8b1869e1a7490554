"""The first steps of any client: connect, list tools, call one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.altered_message import is_call, within, without
from assay.lab.client.declaration import CLIENTS, client_scenario, official_scenario
from assay.lab.client.evidence import fail_unobserved
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Trace, observe
from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour, misbehaving, on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer, Refused
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call_tool, step
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INVALID_PARAMS
from assay.revisions.registry import BY_DATE, HANDSHAKE

# --- what is asked


@official_scenario(
    "initialize",
    "The client opens a conversation",
    brief=Brief(steps=(LIST_TOOLS,), path=""),
    transports=CLIENTS,
)
async def drive_initialize(stage: ClientStage) -> None:
    """The healthy host is all that it takes: it lists no tools, and answers with the revision in hand."""
    stage.host.streams = False


NUMBER = {"type": "number"}
ADD = {
    "name": "add_numbers",
    "description": "Add two numbers together",
    "inputSchema": {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}, "required": ["a", "b"]},
}


@official_scenario(
    "tools_call",
    "A tool is called with the arguments that it takes",
    brief=Brief(steps=(LIST_TOOLS, call_tool("add_numbers", a=5, b=3))),
    transports=CLIENTS,
)
async def drive_tools_call(stage: ClientStage) -> None:
    async def add(cycle: RequestCycle) -> Answer:
        given = [cycle.arguments.get(key) for key in ("a", "b")]
        numbers = [one for one in given if isinstance(one, int | float)]
        if len(numbers) != len(given):
            raise Refused(INVALID_PARAMS, "two numbers are wanted: a and b")
        return {"content": [{"type": "text", "text": f"The sum is {sum(numbers)}"}]}

    stage.host.add_tool(ADD, add)


NOTE = "assay://open-house/note"
TEXT = {"type": "string"}
GREET = {
    "name": "greet",
    "description": "Say hello to somebody",
    "inputSchema": {"type": "object", "properties": {"name": TEXT}, "required": ["name"]},
}
GUIDE = {"uriTemplate": "assay://open-house/{room}", "name": "rooms", "mimeType": "text/plain"}


@client_scenario(
    "A server with tools, resources, prompts and completion, and nothing unusual",
    brief=Brief(
        steps=(
            LIST_TOOLS,
            call_tool("greet", name="world"),
            step("list_resources"),
            step("list_templates"),
            step("read_resource", uri=NOTE),
            step("list_prompts"),
            step("get_prompt", name="letter", arguments={"to": "Ann"}),
            step(
                "complete",
                ref={"type": "ref/prompt", "name": "letter"},
                argument={"name": "to", "value": "o"},
            ),
        )
    ),
    exercises=("jsonrpc.version", "jsonrpc.wire-shape"),
)
async def drive_open_house(stage: ClientStage) -> None:
    async def greet(cycle: RequestCycle) -> Answer:
        return {"content": [{"type": "text", "text": f"Hello, {cycle.arguments.get('name')}!"}]}

    stage.host.add_tool(GREET, greet)
    stage.host.add_resource(NOTE, "Nobody has to read this.", description="A note")
    stage.host.items["resourceTemplates"].append(GUIDE)
    stage.host.add_prompt("letter", description="A letter", arguments=[{"name": "to", "required": True}])
    stage.host.capabilities["completions"] = {}


# --- how it is judged


ROW = "mcp-client-initialization"
DONE = "notifications/initialized"


@official_check("initialize", "The client initializes", requirements=(ROW,))
def judge_initialize(trace: Trace) -> Iterator[Observation]:
    yield from fail_unobserved(trace, _seen(trace), {ROW: "a request initialize"})


def _seen(trace: Trace) -> Iterator[Observation]:
    for offer in trace.inquiries("initialize"):
        wrong = _wrong(offer, trace)
        yield observe(
            ROW,
            not wrong,
            offer,
            expected="a name and a version of the client, its capabilities, a revision not older than the one"
            f" asked for, then {DONE}",
            observed="; ".join(wrong) or "all of it",
        )


def _wrong(offer: Exchange, trace: Trace) -> list[str]:
    params = offer.params
    found = []
    version = params.get("protocolVersion")
    # The one asked for or a later one: the host then answers with the one asked for.
    if not isinstance(version, str) or version not in BY_DATE or version < trace.revision.date:
        found.append(f"protocolVersion {version!r}")
    about = params.get("clientInfo")
    about = about if isinstance(about, dict) else {}
    for key in ("name", "version"):
        if not isinstance(about.get(key), str) or not about[key]:
            found.append(f"clientInfo.{key} {about.get(key)!r}")
    if not isinstance(params.get("capabilities"), dict):
        found.append(f"capabilities {params.get('capabilities')!r}")
    if offer.result is not None and not _concluded(offer, trace):
        found.append(f"no {DONE} after the answer")
    return found


def _concluded(offer: Exchange, trace: Trace) -> bool:
    assert offer.answer is not None
    since = offer.answer.frame.n
    return any(one.method == DONE and one.frame.n > since for one in trace.received)


TOOLS_CALL_ROW = "tool-add-numbers"
WANTED = "numbers for `a` and `b`"


@official_check("tools_call", "The tool is called with two numbers", requirements=(TOOLS_CALL_ROW,))
def judge_tools_call(trace: Trace) -> Iterator[Observation]:
    yield from fail_unobserved(
        trace, _tools_call_seen(trace), {TOOLS_CALL_ROW: f"a call of add_numbers, with {WANTED}"}
    )


def _tools_call_seen(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.inquiries("tools/call"):
        if exchange.params.get("name") != "add_numbers":
            continue
        given = exchange.params.get("arguments")
        values = [given.get(key) for key in ("a", "b")] if isinstance(given, dict) else [None, None]
        holds = all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
        yield observe(TOOLS_CALL_ROW, holds, exchange, expected=WANTED, observed=f"arguments {given}")


# --- what the checks must catch


@on_message("the handshake offers the oldest revision", breaks="mcp-client-initialization")
def handshake_of_old(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "initialize":
        return message
    return within(message, ("params",), lambda params: {**params, "protocolVersion": HANDSHAKE[0].date})


@on_message("the handshake does not name the client", breaks="mcp-client-initialization")
def handshake_without_name(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("params",), lambda params: without(params, "clientInfo"))


@on_message("numbers are given as text", breaks="tool-add-numbers")
def numbers_as_text(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, "add_numbers"):
        return message
    given = {key: str(value) for key, value in message["params"]["arguments"].items()}
    return within(message, ("params",), lambda params: {**params, "arguments": given})


@misbehaving("no tool is ever called", breaks="tool-add-numbers")
async def only_lists(client: ScriptedClient) -> None:
    await client.open()
    await client.play([LIST_TOOLS])


BEHAVIOURS: Final = (
    behaviour(
        "core.handshake-unfinished",
        "that the handshake is done is never said",
        breaks="mcp-client-initialization",
        transports=EVERY,
        announces=False,
    ),
)
