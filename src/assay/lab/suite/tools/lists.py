"""The list of tools: declared, available, the same for every client, announced when it changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    drop_from_result,
    on_reply,
    on_result,
    scenario,
)
from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.list_change import announced_lists, provoke
from assay.lab.harness.need import A_TOOL, Need, declares
from assay.lab.harness.transport import HTTP_ONLY, STDIO_ONLY
from assay.lab.suite.list_offer import (
    PROMPTS,
    TOOLS,
    observe_available,
    observe_change_announced,
    observe_declared,
    observe_order,
    observe_same_for_all,
)
from assay.lab.suite.subscription import listen
from assay.model.error import METHOD_NOT_FOUND
from assay.revisions.revision import Structured

# --- what is asked


@scenario("Tools are there if they are declared", exercises=("tools.declared",))
async def drive_declared(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("tools/list")


@scenario(
    "The list of tools, read on two connections",
    exercises=("tools.available", "tools.same-for-all"),
    needs=(declares("tools"),),
)
async def drive_same_for_all(stage: Stage) -> None:
    one, other = await stage.open(), await stage.open()
    for peer in (one, other):
        await peer.pages("tools/list", "tools")
    for tool in stage.facts.read_only_tools[:1]:
        await one.call(tool, arguments_for(tool))
    await one.request("tools/call", {"name": "no-such-tool-of-the-lab", "arguments": {}})
    for peer in (one, other, one, other):
        await peer.pages("tools/list", "tools")


ANNOUNCED = Need(
    lambda facts: any(facts.declares(offer.capability, "listChanged") for offer in (TOOLS, PROMPTS)),
    "does not declare that it announces changes of its lists",
)


@scenario(
    "Lists of tools and prompts that change",
    exercises=("tools.list-changed", "prompts.list-changed", "prompts.negotiated"),
    needs=(A_TOOL, ANNOUNCED),
    effects=True,
)
async def drive_list_changed(stage: Stage) -> None:
    peer = await stage.open()
    wished = [one for one in (TOOLS, PROMPTS) if one.capability in announced_lists(stage.facts)]
    heard = await listen(stage, peer, *(one.wish for one in wished))
    areas = [one.capability for one in wished if one.wish in heard]
    await provoke(peer, stage.facts, areas, [])


# --- how it is judged


@check("A server with tools declares them", requirements=("TL-01",))
def judge_declared(trace: Trace) -> Iterator[Observation]:
    yield from observe_declared(trace, "TL-01", TOOLS)


@check("The list of tools is the same on every connection", requirements=("TL-04", "TL-05"))
def judge_same_for_all(trace: Trace) -> Iterator[Observation]:
    yield from observe_same_for_all(trace, "TL-04", TOOLS)
    yield from observe_order(trace, "TL-05", TOOLS)


@check("Changes of the list of tools are announced", requirements=("TL-02",))
def judge_list_changed(trace: Trace) -> Iterator[Observation]:
    yield from observe_change_announced(trace, "TL-02", TOOLS)


@check("Declared tools can be listed", requirements=("TL-03",))
def judge_available(trace: Trace) -> Iterator[Observation]:
    yield from observe_available(trace, "TL-03", TOOLS)


# --- what the checks must catch


@on_reply("every second reading of the list lacks a tool", breaks="TL-04", transports=HTTP_ONLY)
def replicas_differ(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "cursor" not in context.params and "result" in reply:
        context.memory["read"] = context.memory.get("read", 0) + 1
        if context.memory["read"] % 2:
            del reply["result"]["tools"][0]
    return reply


@on_reply("a tool shows up once a call was made on the connection", breaks="TL-04", transports=STDIO_ONLY)
def unlocked_by_a_call(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call":
        context.memory["called"] = True
    if context.method == "tools/list" and "result" in reply and context.memory.get("called"):
        tools = reply["result"]["tools"]
        tools.append({**tools[0], "name": "now_unlocked"})
    return reply


@on_result("every second reading has the tools the other way round", breaks="TL-05", method="tools/list")
def unordered(result: Json, context: FaultContext) -> None:
    if "cursor" not in context.params:
        context.memory["read"] = context.memory.get("read", 0) + 1
    if context.memory["read"] % 2:
        result["tools"].reverse()


@on_reply(
    "`notifications/tools/list_changed` is never sent",
    breaks="TL-02",
    window=lambda revision: revision.structured is not Structured.ABSENT,
    silent=True,
)
def silent_change(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == "notifications/tools/list_changed" else reply


@on_reply("`tools/list` is not a known method", breaks="TL-03")
def list_unknown(reply: Json, context: FaultContext) -> Json:
    if context.method != "tools/list":
        return reply
    error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}


RESULT_EDITS: Final = (
    drop_from_result(
        "tools.undeclared",
        "the capabilities do not mention tools",
        breaks="TL-01",
        method=("initialize", "server/discover"),
        path=("capabilities", "tools"),
    ),
)
