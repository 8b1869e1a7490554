"""The first steps of any client: connect, list tools, call one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.altered_message import is_call, with_params, within, without
from assay.lab.client.declaration import CLIENTS, client_scenario, official_scenario
from assay.lab.client.evidence import calls_of, fail_unobserved
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Trace, observe
from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour, misbehaving, on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer, AnswerError
from assay.lab.harness.scripted_server.client_script import (
    LIST_TOOLS,
    ClientScript,
    call_tool,
    optional,
    step,
)
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INVALID_PARAMS
from assay.revisions.registry import BY_DATE, HANDSHAKE

# --- what is asked


@official_scenario(
    "initialize",
    "Connect and list the tools of a server without tools",
    script=ClientScript(steps=(optional(LIST_TOOLS),), path=""),
    transports=CLIENTS,
)
async def drive_initialize(stage: ClientStage) -> None:
    stage.server.streams = False
    stage.server.capabilities["tools"] = {}  # a client may refuse to list what the server does not declare


NUMBER: Final = {"type": "number"}
ADD: Final = {
    "name": "add_numbers",
    "description": "Add two numbers together",
    "inputSchema": {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}, "required": ["a", "b"]},
}


@official_scenario(
    "tools_call",
    "Call a tool with two numbers",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("add_numbers", a=5, b=3))),
    transports=CLIENTS,
)
async def drive_tools_call(stage: ClientStage) -> None:
    async def add(cycle: RequestCycle) -> Answer:
        values = [cycle.arguments.get(key) for key in ("a", "b")]
        numbers = [value for value in values if isinstance(value, int | float)]
        if len(numbers) != len(values):
            raise AnswerError(INVALID_PARAMS, "`a` and `b` must be numbers")
        return {"content": [{"type": "text", "text": f"The sum is {sum(numbers)}"}]}

    stage.server.add_tool(ADD, add)


NOTE: Final = "assay://open-house/note"
TEXT: Final = {"type": "string"}
GREET: Final = {
    "name": "greet",
    "description": "Say hello to somebody",
    "inputSchema": {"type": "object", "properties": {"name": TEXT}, "required": ["name"]},
}
GUIDE: Final = {"uriTemplate": "assay://open-house/{room}", "name": "rooms", "mimeType": "text/plain"}


@client_scenario(
    "Use the tools, resources, prompts and completion of an ordinary server",
    script=ClientScript(
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

    stage.server.add_tool(GREET, greet)
    stage.server.add_resource(NOTE, "A note without any content.", description="A note")
    stage.server.items["resourceTemplates"].append(GUIDE)
    stage.server.add_prompt("letter", description="A letter", arguments=[{"name": "to", "required": True}])
    stage.server.capabilities["completions"] = {}


# --- how it is judged


INITIALIZED: Final = "notifications/initialized"


@official_check(
    "initialize",
    "The client completes the handshake",
    requirements={"mcp-client-initialization": "The handshake is incomplete or invalid"},
)
def judge_initialize(trace: Trace) -> Iterator[Observation]:
    expected = {"mcp-client-initialization": "a request initialize"}
    yield from fail_unobserved(trace, _handshakes(trace), expected)


def _handshakes(trace: Trace) -> Iterator[Observation]:
    for opening in trace.subject_exchanges("initialize"):
        problems = list(_handshake_problems(opening, trace))
        yield observe(
            "mcp-client-initialization",
            not problems,
            opening,
            expected="the client's name, version and capabilities, the requested revision or a later one,"
            f" then {INITIALIZED}",
            observed="; ".join(problems) or "all of it",
        )


def _handshake_problems(opening: Exchange, trace: Trace) -> Iterator[str]:
    params = opening.params
    version = params.get("protocolVersion")
    # A later revision is fine: the server then answers with the requested one.
    if not isinstance(version, str) or version not in BY_DATE or version < trace.revision.date:
        yield f"protocolVersion {version!r}"
    info = params.get("clientInfo")
    info = info if isinstance(info, dict) else {}
    for key in ("name", "version"):
        if not isinstance(info.get(key), str) or not info[key]:
            yield f"clientInfo.{key} {info.get(key)!r}"
    if not isinstance(params.get("capabilities"), dict):
        yield f"capabilities {params.get('capabilities')!r}"
    if opening.result is not None and not _concluded(opening, trace):
        yield f"no {INITIALIZED} after the answer"


def _concluded(opening: Exchange, trace: Trace) -> bool:
    assert opening.answer is not None
    since = opening.answer.frame.n
    return any(message.method == INITIALIZED and message.frame.n > since for message in trace.received)


@official_check(
    "tools_call",
    "The tool is called with two numbers",
    requirements={"tool-add-numbers": "add_numbers was not called with two numbers"},
)
def judge_tools_call(trace: Trace) -> Iterator[Observation]:
    expected = {"tool-add-numbers": "a call of add_numbers, with numbers for `a` and `b`"}
    yield from fail_unobserved(trace, _additions(trace), expected)


def _additions(trace: Trace) -> Iterator[Observation]:
    for call in calls_of(trace, "add_numbers"):
        arguments = call.params.get("arguments")
        values = [arguments.get(key) for key in ("a", "b")] if isinstance(arguments, dict) else [None]
        yield observe(
            "tool-add-numbers",
            all(isinstance(value, int | float) and not isinstance(value, bool) for value in values),
            call,
            expected="numbers for `a` and `b`",
            observed=f"arguments {arguments}",
        )


# --- what the checks must catch


@on_message("offers the oldest revision", breaks="mcp-client-initialization")
def handshake_of_old(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "initialize":
        return message
    return with_params(message, protocolVersion=HANDSHAKE[0].date)


@on_message("omits its name from the handshake", breaks="mcp-client-initialization")
def handshake_without_name(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("params",), lambda params: without(params, "clientInfo"))


@on_message("sends numbers as text", breaks="tool-add-numbers")
def numbers_as_text(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, "add_numbers"):
        return message
    arguments = {key: str(value) for key, value in message["params"]["arguments"].items()}
    return with_params(message, arguments=arguments)


@misbehaving("never calls a tool", breaks="tool-add-numbers")
async def only_lists(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps([LIST_TOOLS])


BEHAVIOURS: Final = (
    behaviour(
        "core.handshake-unfinished",
        "never sends notifications/initialized",
        breaks="mcp-client-initialization",
        transports=EVERY,
        sends_initialized=False,
    ),
)
