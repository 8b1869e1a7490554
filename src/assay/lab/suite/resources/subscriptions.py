"""Subscriptions to resources, and the updates that follow."""

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
    error_reply,
    observe,
    on_reply,
    on_request,
    result_reply,
    scenario,
)
from assay.lab.harness.driver.choice import CHANGING, matching_tools, uris_of
from assay.lab.harness.driver.list_change import LISTS, UPDATED, WATCHED, provoke
from assay.lab.harness.driver.stage import open_server_stream
from assay.lab.harness.need import A_RESOURCE, Need, declares
from assay.lab.harness.sabotage.saboteur import LocalAnswer, newest_of_each_kind
from assay.lab.harness.trace.trace import NOT_RECEIVED
from assay.lab.harness.transport import STDIO_ONLY
from assay.model.error import METHOD_NOT_FOUND
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Opening

LIST_CHANGED: Final = LISTS["resources"][0]

# --- what is asked


ANNOUNCES: Final = Need(
    lambda facts: facts.declares("resources", "subscribe") or facts.declares("resources", "listChanged"),
    "announces no changes of resources",
)


@scenario(
    "Cause changes of resources, while subscribed and after",
    exercises=("resources.announced", "resources.subscriptions"),
    needs=(ANNOUNCES,),
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
    effects=True,
)
async def drive_changes(stage: Stage) -> None:
    peer = await stage.open()
    facts = stage.facts
    uris = uris_of(facts)[:WATCHED] if facts.declares("resources", "subscribe") else []
    areas = ["resources"] if facts.declares("resources", "listChanged") else []
    for uri in uris:
        await peer.request("resources/subscribe", {"uri": uri})
    if await open_server_stream(stage, peer):
        await provoke(peer, facts, areas, uris)
    for uri in uris:
        await peer.request("resources/unsubscribe", {"uri": uri})
    # Updates that were sent before the end of the subscription arrive before the answer to the sentinel.
    await peer.sentinel()
    async with peer.probe("unsubscribed"):
        for tool in matching_tools(CHANGING, facts):
            await peer.call(tool, facts.arguments_for(tool))


@scenario(
    "Subscribe to a resource and unsubscribe",
    exercises=("resources.subscriptions",),
    needs=(declares("resources", "subscribe"), A_RESOURCE),
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
    official="resources-subscribe",
)
async def drive_subscribing(stage: Stage) -> None:
    peer = await stage.open()
    for uri in uris_of(stage.facts)[:1]:
        await peer.request("resources/subscribe", {"uri": uri})
        await peer.request("resources/unsubscribe", {"uri": uri})


# --- how it is judged


BY_NOTIFICATION: Final = {LIST_CHANGED: ("RS-02",), UPDATED: ("RS-03", "RS-04")}


@check("Changes of resources are announced", requirements=("RS-02", "RS-03", "RS-04"))
def judge_announced(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        for requirement in BY_NOTIFICATION.get(message.method, ()):
            yield observe(requirement, True, message, expected="a notification", observed=message)
    for mark in trace.marks(NOT_RECEIVED):
        method, seconds = str(mark.info.get("method")), mark.info.get("waited")
        expected, observed = f"{method} after the observed change", f"none within {seconds} s"
        for requirement in BY_NOTIFICATION.get(method, ()):
            yield observe(requirement, False, mark, expected=expected, observed=observed)


@check("Subscriptions begin and end as requested", requirements=("RS-03",))
def judge_subscriptions(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("resources/subscribe", "resources/unsubscribe"):
        if exchange.answer is not None:
            holds = exchange.result is not None
            yield observe("RS-03", holds, exchange, expected="a result", observed=exchange)
    # Updates of resources without any subscription are judged by `lifecycle.negotiated-only`.
    ended = [exchange.params.get("uri") for exchange in trace.exchanges("resources/unsubscribe")]
    for probe in trace.probes("unsubscribed") if ended else ():
        updates = [message for message in probe.received if message.method == UPDATED]
        late = [message for message in updates if message.params.get("uri") in ended]
        expected, observed = "no update after the end of a subscription", late[0] if late else "none"
        yield observe("RS-03", not late, probe, expected=expected, observed=observed)


# --- what the checks must catch


@on_reply(
    "does not announce changes of the list of resources",
    breaks="RS-02",
    transports=STDIO_ONLY,
    window=newest_of_each_kind,
    silent=True,
)
def list_change_unsent(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == LIST_CHANGED else reply


@on_request(
    "sends updates after the end of a subscription",
    breaks="RS-03",
    transports=STDIO_ONLY,
    scenario="resources.changes",
    window=lambda revision: revision is HANDSHAKE[-1],
)
def unsubscribe_ignored(message: Json, context: FaultContext) -> Json | LocalAnswer:
    ends = message.get("method") == "resources/unsubscribe"
    return LocalAnswer([result_reply(message, {})]) if ends else message


@on_reply(
    "sends no updates to subscribers",
    breaks="RS-03",
    scenario="resources.changes",
    transports=STDIO_ONLY,
    window=lambda revision: revision is HANDSHAKE[-1],
    silent=True,
)
def updates_unsent(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == UPDATED else reply


@on_reply(
    "sends no updates on listen streams",
    breaks="RS-04",
    scenario="stateless.changes",
    transports=STDIO_ONLY,
    silent=True,
)
def streams_without_updates(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == UPDATED else reply


@on_reply("declares `subscribe` without implementing it", breaks="RS-03", scenario="resources.subscribing")
def subscribe_unimplemented(reply: Json, context: FaultContext) -> Json:
    subscribes = context.method == "resources/subscribe"
    return error_reply(reply, METHOD_NOT_FOUND, "Method not found") if subscribes else reply
