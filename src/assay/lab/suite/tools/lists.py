"""The list of tools: declared, available, the same for every client, announced when it changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    edited_results,
    error_reply,
    on_reply,
    on_result,
    scenario,
)
from assay.lab.harness.driver.choice import steady_tools
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


@scenario("List tools, whether declared or not")
async def drive_declared(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("tools/list")


@scenario(
    "List tools on two connections",
    exercises=("tools.available", "tools.same-for-all"),
    needs=(declares("tools"),),
)
async def drive_same_for_all(stage: Stage) -> None:
    first, second = await stage.open(), await stage.open()
    for peer in (first, second):
        await peer.pages("tools/list", "tools")
    # Calls must not change what the connection that made them sees.
    for tool in steady_tools(stage.facts)[:1]:
        await first.call(tool, stage.facts.arguments_for(tool))
    await first.request("tools/call", {"name": "no-such-tool-of-the-lab", "arguments": {}})
    for peer in (first, second, first, second):
        await peer.pages("tools/list", "tools")


ANNOUNCED = Need(
    lambda facts: any(facts.declares(offer.capability, "listChanged") for offer in (TOOLS, PROMPTS)),
    "does not declare `listChanged` for tools or prompts",
)


@scenario(
    "Call tools until the lists of tools and prompts change",
    exercises=("tools.list-changed", "prompts.list-changed", "prompts.negotiated"),
    needs=(A_TOOL, ANNOUNCED),
    effects=True,
)
async def drive_list_changed(stage: Stage) -> None:
    peer = await stage.open()
    announced = [offer for offer in (TOOLS, PROMPTS) if offer.capability in announced_lists(stage.facts)]
    granted = await listen(stage, peer, *(offer.filter for offer in announced))
    capabilities = [offer.capability for offer in announced if offer.filter in granted]
    await provoke(peer, stage.facts, capabilities, [])


# --- how it is judged


@check("A server with tools declares them", requirements=("TL-01",), everywhere=True)
def judge_declared(trace: Trace) -> Iterator[Observation]:
    yield from observe_declared(trace, "TL-01", TOOLS)


@check("The list of tools is the same on every connection", requirements=("TL-04", "TL-05"), everywhere=True)
def judge_same_for_all(trace: Trace) -> Iterator[Observation]:
    yield from observe_same_for_all(trace, "TL-04", TOOLS)
    yield from observe_order(trace, "TL-05", TOOLS)


@check("Changes of the list of tools are announced", requirements=("TL-02",))
def judge_list_changed(trace: Trace) -> Iterator[Observation]:
    yield from observe_change_announced(trace, "TL-02", TOOLS)


@check("Declared tools can be listed", requirements=("TL-03",), everywhere=True)
def judge_available(trace: Trace) -> Iterator[Observation]:
    yield from observe_available(trace, "TL-03", TOOLS)


# --- what the checks must catch


@on_reply("every second list lacks a tool", breaks="TL-04", transports=HTTP_ONLY)
def replicas_differ(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "cursor" not in context.params and "result" in reply:
        context.memory["read"] = context.memory.get("read", 0) + 1
        if context.memory["read"] % 2:
            del reply["result"]["tools"][0]
    return reply


@on_reply("a call adds a tool to the list of its connection", breaks="TL-04", transports=STDIO_ONLY)
def unlocked_by_a_call(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call":
        context.memory["called"] = True
    if context.method == "tools/list" and "result" in reply and context.memory.get("called"):
        tools = reply["result"]["tools"]
        tools.append({**tools[0], "name": "now_unlocked"})
    return reply


@on_result("every second list has the tools in reverse order", breaks="TL-05", method="tools/list")
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
    return error_reply(reply, METHOD_NOT_FOUND, "Method not found")


RESULT_EDITS: Final = edited_results(
    ("initialize", "server/discover"),
    ("tools.undeclared", "the capabilities do not mention tools", "TL-01", "capabilities.tools", ABSENT),
)
