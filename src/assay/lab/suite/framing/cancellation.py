"""A cancelled request on stdio stays unanswered."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    observe,
    on_reply,
    scenario,
)
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.need import Need
from assay.lab.harness.sabotage.saboteur import params_of
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.transport import STDIO_ONLY

# --- what is asked


FILTERS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}
ANNOUNCES = Need(
    lambda facts: any(facts.declares(name, "listChanged") for name in FILTERS), "announces no changes"
)


@scenario(
    "A request that is cancelled",
    exercises=("framing.cancelled-silence",),
    needs=(ANNOUNCES,),
    transports=STDIO_ONLY,
    window=lambda revision: "subscriptions/listen" in revision.requests,
)
async def drive_cancelled(stage: Stage) -> None:
    peer = await stage.open()
    wanted = {FILTERS[name]: True for name in FILTERS if stage.facts.declares(name, "listChanged")}
    listening = await peer.start("subscriptions/listen", {"notifications": wanted})
    await peer.sentinel()
    await peer.notify("notifications/cancelled", {"requestId": listening.id})
    # What was on its way when the cancellation came may still arrive: only what comes later is judged.
    await peer.sentinel()
    async with peer.probe("cancelled", id=listening.id):
        await peer.sentinel()


# --- how it is judged


@check("Nothing more is said of a cancelled request", requirements=("STD-10",), transports=STDIO_ONLY)
def judge_cancelled_silence(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("cancelled"):
        said = [one for one in probe.received if _is_about(one, probe.info.get("id"))]
        yield observe(
            "STD-10",
            not said,
            probe,
            expected="no message about the cancelled request",
            observed=said[0] if said else "none",
        )


def _is_about(message: Message, request_id: object) -> bool:
    if message.is_response:
        return same_id(message.id, request_id)
    meta = message.params.get("_meta")
    return isinstance(meta, dict) and same_id(meta.get(SUBSCRIPTION_KEY), request_id)


# --- what the checks must catch


def note(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if message.get("method") == "notifications/cancelled" and "requestId" in params:
        context.memory["late"] = params["requestId"]
    return message


@on_reply("a cancelled request is answered, late", breaks="STD-10", transports=STDIO_ONLY, request=note)
def answers_cancelled(reply: Json, context: FaultContext) -> list[Json]:
    if "late" not in context.memory:
        return [reply]
    # What comes with the first answer after it may have been on its way.
    context.memory["answers"] = context.memory.get("answers", 0) + 1
    late = {"code": -32800, "message": "the request was cancelled"}
    told = context.memory["answers"] == 2
    return [{"jsonrpc": "2.0", "id": context.memory["late"], "error": late}, reply] if told else [reply]


def goes_on_telling_note(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if message.get("method") == "notifications/cancelled" and "requestId" in params:
        context.memory["cancelled"] = params["requestId"]
    return message


@on_reply(
    "notifications go on after their subscription was cancelled",
    breaks="STD-10",
    transports=STDIO_ONLY,
    request=goes_on_telling_note,
)
def goes_on_telling(reply: Json, context: FaultContext) -> list[Json]:
    if "cancelled" not in context.memory:
        return [reply]
    params = {"_meta": {SUBSCRIPTION_KEY: context.memory["cancelled"]}}
    return [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params}, reply]
