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
    observe,
    on_reply,
    on_request,
    scenario,
)
from assay.lab.harness.driver.choice import CHANGING, argument_sets, matching_tools, uris_of
from assay.lab.harness.driver.list_change import LISTS, UPDATED, WATCHED, provoke
from assay.lab.harness.driver.stage import open_server_stream
from assay.lab.harness.need import A_RESOURCE, Need, declares
from assay.lab.harness.sabotage.saboteur import LocalAnswer
from assay.lab.harness.trace.trace import NOT_RECEIVED
from assay.lab.harness.transport import STDIO_ONLY
from assay.model.error import METHOD_NOT_FOUND
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Opening

# --- what is asked


TELLS: Final = Need(
    lambda facts: facts.declares("resources", "subscribe") or facts.declares("resources", "listChanged"),
    "tells of no changes of resources",
)


@scenario(
    "Resources that change",
    exercises=("resources.announced", "resources.subscriptions"),
    needs=(TELLS,),
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
    # What was on its way while we unsubscribed may still arrive; a round trip later nothing may.
    await peer.sentinel()
    async with peer.probe("unsubscribed"):
        for tool in matching_tools(CHANGING, facts):
            await peer.call(tool, argument_sets(tool)[0])


@scenario(
    "Subscribing to a resource",
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


ROWS: Final = {LISTS["resources"][0]: ("RS-02",), UPDATED: ("RS-03", "RS-04")}


@check("Changes of resources are announced", requirements=("RS-02", "RS-03", "RS-04"))
def judge_announced(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        for row in ROWS.get(message.method, ()):
            yield observe(row, True, message, expected="an announcement", observed=message)
    for mark in trace.marks(NOT_RECEIVED):
        for row in ROWS.get(str(mark.info.get("method")), ()):
            yield observe(
                row,
                False,
                mark,
                expected=f"{mark.info.get('method')} after the change that two readings show",
                observed=f"none within {mark.info.get('waited')} s",
            )


@check("Subscriptions begin and end as asked", requirements=("RS-03",))
def judge_subscriptions(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("resources/subscribe", "resources/unsubscribe"):
        if exchange.answer is not None:
            holds = exchange.result is not None
            yield observe("RS-03", holds, exchange, expected="a result", observed=exchange)
    # An update of what was never subscribed to is another fault: see `lifecycle.negotiated-only`.
    ended = [exchange.params.get("uri") for exchange in trace.exchanges("resources/unsubscribe")]
    for probe in trace.probes("unsubscribed") if ended else ():
        late = [one for one in probe.received if one.method == UPDATED and one.params.get("uri") in ended]
        expected = "no update of what is not subscribed to any more"
        yield observe("RS-03", not late, probe, expected=expected, observed=late[0] if late else "none")


# --- what the checks must catch


ANNOUNCED = LISTS["resources"][0]


@on_reply(
    "the list of resources changes, and nothing says so",
    breaks="RS-02",
    transports=STDIO_ONLY,
    window=lambda revision: revision in (HANDSHAKE[-1], PER_REQUEST[-1]),
    silent=True,
)
def list_change_unsent(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == ANNOUNCED else reply


@on_request(
    "updates go on after unsubscribing",
    breaks="RS-03",
    transports=STDIO_ONLY,
    scenario="resources.changes",
    window=lambda revision: revision is HANDSHAKE[-1],
)
def unsubscribe_ignored(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") != "resources/unsubscribe":
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "result": {}}])


@on_reply(
    "a resource changes, and no update follows",
    breaks="RS-03",
    scenario="resources.changes",
    transports=STDIO_ONLY,
    window=lambda revision: revision is HANDSHAKE[-1],
    silent=True,
)
def updates_unsent(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == UPDATED else reply


@on_reply(
    "a resource changes, and no listener hears of it",
    breaks="RS-04",
    scenario="stateless.changes",
    transports=STDIO_ONLY,
    silent=True,
)
def streams_without_updates(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == UPDATED else reply


@on_reply("`subscribe` is declared and not implemented", breaks="RS-03", scenario="resources.subscribing")
def subscribe_unimplemented(reply: Json, context: FaultContext) -> Json:
    if context.method != "resources/subscribe":
        return reply
    error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
