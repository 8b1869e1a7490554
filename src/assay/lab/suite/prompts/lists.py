"""The list of prompts: declared, available, the same for every client, announced when it changes."""

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
    scenario,
    set_in_result,
)
from assay.lab.harness.driver.argument import prompt_arguments
from assay.lab.harness.need import declares
from assay.lab.harness.transport import HTTP_ONLY, STDIO_ONLY
from assay.lab.suite.list_offer import (
    PROMPTS,
    observe_available,
    observe_change_announced,
    observe_declared,
    observe_same_for_all,
    observe_unannounced,
)
from assay.revisions.revision import Structured

# --- what is asked


@scenario("Prompts are there if they are declared", exercises=("prompts.declared",))
async def drive_declared(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("prompts/list")


@scenario(
    "The list of prompts, read on two connections",
    exercises=("prompts.available", "prompts.same-for-all"),
    needs=(declares("prompts"),),
)
async def drive_same_for_all(stage: Stage) -> None:
    one, other = await stage.open(), await stage.open()
    for peer in (one, other):
        await peer.pages("prompts/list", "prompts")
    for prompt in stage.facts.prompts[:1]:
        await one.request("prompts/get", {"name": prompt.get("name"), "arguments": prompt_arguments(prompt)})
    for peer in (one, other, one, other):
        await peer.pages("prompts/list", "prompts")


# --- how it is judged


@check("A server with prompts declares them", requirements=("PR-01",))
def judge_declared(trace: Trace) -> Iterator[Observation]:
    yield from observe_declared(trace, "PR-01", PROMPTS)


@check("The list of prompts is the same on every connection", requirements=("PR-04",))
def judge_same_for_all(trace: Trace) -> Iterator[Observation]:
    yield from observe_same_for_all(trace, "PR-04", PROMPTS)


@check("Declared prompts can be listed", requirements=("PR-03",))
def judge_available(trace: Trace) -> Iterator[Observation]:
    yield from observe_available(trace, "PR-03", PROMPTS)


@check("Changes of the list of prompts are announced", requirements=("PR-02",))
def judge_list_changed(trace: Trace) -> Iterator[Observation]:
    yield from observe_change_announced(trace, "PR-02", PROMPTS)


@check("Only declared changes of prompts are announced", requirements=("PR-14",))
def judge_negotiated(trace: Trace) -> Iterator[Observation]:
    yield from observe_unannounced(trace, "PR-14", PROMPTS)


# --- what the checks must catch


@on_reply("every second reading of the list lacks a prompt", breaks="PR-04", transports=HTTP_ONLY)
def replicas_differ(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/list" and "cursor" not in context.params and "result" in reply:
        context.memory["read"] = context.memory.get("read", 0) + 1
        if context.memory["read"] % 2:
            del reply["result"]["prompts"][0]
    return reply


@on_reply("a prompt goes from the list once it was used", breaks="PR-04", transports=STDIO_ONLY)
def used_up(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get":
        context.memory["used"] = context.params.get("name")
    if context.method == "prompts/list" and "result" in reply:
        prompts = reply["result"]["prompts"]
        reply["result"]["prompts"] = [one for one in prompts if one["name"] != context.memory.get("used")]
    return reply


@on_reply(
    "`notifications/prompts/list_changed` is never sent",
    breaks="PR-02",
    window=lambda revision: revision.structured is not Structured.ABSENT,
    silent=True,
)
def silent_change(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == "notifications/prompts/list_changed" else reply


RESULT_EDITS: Final = (
    drop_from_result(
        "prompts.undeclared",
        "the capabilities do not mention prompts",
        breaks="PR-01",
        method=("initialize", "server/discover"),
        path=("capabilities", "prompts"),
    ),
    set_in_result(
        "prompts.list-null",
        "`prompts` is null",
        breaks="PR-03",
        method="prompts/list",
        path=("prompts",),
        value=None,
    ),
    set_in_result(
        "prompts.undeclared-notices",
        "the capabilities do not mention `prompts.listChanged`",
        breaks="PR-14",
        method=("initialize", "server/discover"),
        path=("capabilities", "prompts"),
        value={},
    ),
)
