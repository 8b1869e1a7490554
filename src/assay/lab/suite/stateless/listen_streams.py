"""`subscriptions/listen`: acknowledged, filtered and tagged notifications."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
from assay.lab.harness.driver.choice import uris_of
from assay.lab.harness.driver.list_change import LISTS, UPDATED, WATCHED, announced_lists, provoke
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.sabotage.saboteur import meta_of, params_of
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.listing import declaration
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.trace.trace import NOT_RECEIVED
from assay.lab.suite.self_description import as_object
from assay.lab.suite.subscription import (
    ACKNOWLEDGED,
    FILTERS,
    LISTEN,
    NOTIFIES,
    Subscription,
    strays,
    subscription_id,
    subscriptions,
)

# --- what is asked


@scenario(
    "Changes on listen streams",
    exercises=("stateless.listen-stream", "resources.announced"),
    needs=(NOTIFIES,),
    window=lambda revision: LISTEN in revision.requests,
    effects=True,
)
async def drive_changes(stage: Stage) -> None:
    peer = await stage.open()
    areas = announced_lists(stage.facts)
    uris = uris_of(stage.facts)[:WATCHED] if stage.facts.declares("resources", "subscribe") else []
    for wishes in _wishes(areas, uris):
        pending = await peer.start(LISTEN, {"notifications": wishes})
        if await peer.wait_for(ACKNOWLEDGED, pending) is None:
            return
    await provoke(peer, stage.facts, areas, uris)


def _wishes(areas: list[str], uris: list[str]) -> list[dict[str, Any]]:
    """A stream for each, so that what comes on the wrong one is seen."""
    lists = [{f"{area}ListChanged": True} for area in areas]
    return [*lists, {"resourceSubscriptions": uris}] if uris else list(lists)


@scenario(
    "Listening",
    exercises=("stateless.acknowledged", "stateless.listen-stream"),
    needs=(NOTIFIES,),
    window=lambda revision: LISTEN in revision.requests,
)
async def drive_listening(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("server/discover")
    lists = {f"{area}ListChanged": True for area in LISTS}
    everything = {**lists, "resourceSubscriptions": uris_of(stage.facts)}
    first = await peer.start(LISTEN, {"notifications": everything})
    await peer.wait_for(ACKNOWLEDGED, first)
    odd = {"toolsListChanged": True, "assayLabListChanged": True}
    second = await peer.start(LISTEN, {"notifications": odd}, request_id="listens by name")
    await peer.wait_for(ACKNOWLEDGED, second)


# --- how it is judged


@check("A subscription is acknowledged first", requirements=("SUB-02", "SUB-03", "SUB-04"))
def judge_acknowledged(trace: Trace) -> Iterator[Observation]:
    for found in subscriptions(trace):
        acknowledgement = found.acknowledgement
        if acknowledgement is None:
            yield from _unacknowledged(found, trace)
            continue
        first = found.messages[0]
        for row in ("SUB-02", "SUB-03"):
            holds = first is acknowledgement
            yield observe(row, holds, found, first, expected="the acknowledgement first", observed=first)
        problem = _excess(acknowledgement, found, trace)
        expected = "what was asked for and is supported, nothing else"
        yield observe("SUB-04", problem is None, found, acknowledgement, expected=expected, observed=problem)


def _unacknowledged(found: Subscription, trace: Trace) -> Iterator[Observation]:
    """Only where something else came instead, or the driver waited for it: an error is another matter."""
    waited = any(mark.info.get("method") == ACKNOWLEDGED for mark in trace.marks(NOT_RECEIVED))
    instead = found.messages[0] if found.messages else found.exchange.answer
    if (instead is None and waited) or (instead is not None and not instead.error):
        observed = instead or "nothing at all"
        yield observe("SUB-02", False, found, expected=ACKNOWLEDGED, observed=observed)


def _excess(acknowledgement: Message, found: Subscription, trace: Trace) -> str | None:
    declared = declaration(trace)
    for wish, granted in as_object(acknowledgement.params.get("notifications")).items():
        if granted in (False, None, []):
            continue
        if not _is_within(granted, found.filters.get(wish)):
            return f"`{wish}`: {granted!r}, which was not asked for"
        area = "resources" if wish == "resourceSubscriptions" else wish.removesuffix("ListChanged")
        if declared is not None and area != wish and area not in declared.capabilities:
            return f"`{wish}`, though `{area}` is not declared"
    return None


def _is_within(granted: Any, asked: Any) -> bool:
    if isinstance(granted, list):
        return isinstance(asked, list) and all(one in asked for one in granted)
    return asked is True


OF_REQUESTS = ("notifications/progress", "notifications/message")


@check("Listen streams carry what was asked for", requirements=("SUB-01", "SUB-05", "SUB-08", "SUB-10"))
def judge_listen_stream(trace: Trace) -> Iterator[Observation]:
    for found in subscriptions(trace):
        for message in found.messages:
            yield from _notice(message, found)
        yield from _end(found, trace)
    for message in strays(trace):
        expected = "the id of a subscription of this connection"
        yield observe("SUB-05", False, message, expected=expected, observed=repr(subscription_id(message)))


def _notice(message: Message, found: Subscription) -> Iterator[Observation]:
    name = subscription_id(message)
    ours = same_id(name, found.exchange.request.id)
    yield observe(
        "SUB-05", ours, found, message, expected="the id of the listen request", observed=repr(name)
    )
    alien = message.method in OF_REQUESTS
    expected = "nothing that belongs to another request"
    yield observe("SUB-10", not alien, found, message, expected=expected, observed=message)
    if message.method in FILTERS:
        wished = _is_wished(message, found)
        yield observe("SUB-01", wished, found, message, expected="only what was asked for", observed=message)


def _is_wished(message: Message, found: Subscription) -> bool:
    wish = found.filters.get(FILTERS[message.method])
    if message.method != UPDATED:
        return wish is True
    uri = str(message.params.get("uri"))
    # What is below a resource may be told of under its own name.
    return isinstance(wish, list) and any(
        uri.startswith(str(one)) or str(one).startswith(uri) for one in wish
    )


def _end(found: Subscription, trace: Trace) -> Iterator[Observation]:
    """A server that ends a subscription says so; one that the driver left, or that broke, says nothing."""
    result = found.exchange.result
    if result is not None:
        name = as_object(result.get("_meta")).get(SUBSCRIPTION_KEY)
        told = same_id(name, found.exchange.request.id) and result.get("resultType") == "complete"
        expected = "a `complete` result with the id of the subscription"
        yield observe("SUB-08", told, found, expected=expected, observed=found.exchange.answer)
    elif found.acknowledgement is not None and found.exchange.answer is None:
        for end in _clean_ends(found, trace):
            told = any(one.method == "notifications/cancelled" for one in found.messages)
            yield observe("SUB-08", told, found, end, expected="a result before the end", observed="the end")


def _clean_ends(found: Subscription, trace: Trace) -> list[Frame]:
    """Of its response on HTTP: elsewhere the channel is not its own."""
    asked = found.exchange.request.frame
    own = asked.channel if asked.kind is Kind.REQUEST else None
    ends = (one for one in trace.frames if one.kind is Kind.END and one.channel == own)
    return [one for one in ends if one.sender is Sender.SUBJECT and one.info.get("clean") is True]


# --- what the checks must catch


@on_reply("a subscription is answered at once, without acknowledgement", breaks="SUB-02")
def listening_is_over(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") != ACKNOWLEDGED:
        return reply
    meta = reply["params"]["_meta"]
    return {
        "jsonrpc": "2.0",
        "id": meta[SUBSCRIPTION_KEY],
        "result": {"resultType": "complete", "_meta": meta},
    }


@on_reply("a notification comes before the acknowledgement", breaks="SUB-03")
def notice_before_acknowledgement(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    params = {"_meta": reply["params"]["_meta"]}
    return [{"jsonrpc": "2.0", "method": LISTS["tools"][0], "params": params}, reply]


def echo(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == ACKNOWLEDGED:
        reply["params"]["notifications"] = context.memory[repr(reply["params"]["_meta"][SUBSCRIPTION_KEY])]
    return reply


@on_request("the acknowledgement repeats what was asked for", breaks="SUB-04", reply=echo)
def wishes_echoed(message: Json, context: FaultContext) -> Json:
    if message.get("method") == LISTEN:
        context.memory[repr(message["id"])] = params_of(message).get("notifications")
    return message


NOTICES = [notice for notice, *_ in LISTS.values()]


@on_reply("a listener for one list hears of all", breaks="SUB-01", scenario="stateless.changes")
def tells_of_all_lists(reply: Json, context: FaultContext) -> list[Json]:
    return [{**reply, "method": one} for one in NOTICES] if reply.get("method") in NOTICES else [reply]


@on_reply("updates of resources come that nobody asked for", breaks="SUB-01", scenario="stateless.changes")
def tells_of_all_resources(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != UPDATED:
        return [reply]
    other = {**reply["params"], "uri": "file:///somewhere/else.txt"}
    return [{**reply, "params": other}, reply]


@on_reply("the id of a subscription is a string where the request's was a number", breaks="SUB-05")
def subscription_as_text(reply: Json, context: FaultContext) -> Json:
    meta = meta_of(reply)
    if SUBSCRIPTION_KEY in meta:
        meta[SUBSCRIPTION_KEY] = str(meta[SUBSCRIPTION_KEY])
    return reply


@on_reply("notifications do not name their subscription", breaks="SUB-05")
def subscription_unnamed(reply: Json, context: FaultContext) -> Json:
    params_of(reply).pop("_meta", None)
    return reply


@on_reply("a subscription ends with a result that does not name it", breaks="SUB-08")
def ends_unnamed(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    name = reply["params"]["_meta"][SUBSCRIPTION_KEY]
    return [reply, {"jsonrpc": "2.0", "id": name, "result": {"resultType": "complete"}}]


@on_reply("log messages come on a listen stream", breaks="SUB-10")
def logs_to_listeners(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    params = {"_meta": reply["params"]["_meta"], "level": "info", "data": "somebody listens"}
    return [reply, {"jsonrpc": "2.0", "method": "notifications/message", "params": params}]
