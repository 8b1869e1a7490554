"""`subscriptions/listen`: acknowledged, filtered and tagged notifications."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

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
    result_reply,
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
    "Cause changes while listen streams are open",
    exercises=("stateless.listen-stream", "resources.announced"),
    needs=(NOTIFIES,),
    window=lambda revision: LISTEN in revision.requests,
    effects=True,
)
async def drive_changes(stage: Stage) -> None:
    peer = await stage.open()
    areas = announced_lists(stage.facts)
    uris = uris_of(stage.facts)[:WATCHED] if stage.facts.declares("resources", "subscribe") else []
    # One stream for each filter, to notice notifications on the wrong stream.
    filters: list[dict[str, Any]] = [{f"{area}ListChanged": True} for area in areas]
    for each in [*filters, {"resourceSubscriptions": uris}] if uris else filters:
        pending = await peer.start(LISTEN, {"notifications": each})
        if await peer.wait_for(ACKNOWLEDGED, pending) is None:
            return
    await provoke(peer, stage.facts, areas, uris)


@scenario(
    "Open listen streams, one with an unknown filter",
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
    unknown = {"toolsListChanged": True, "assayLabListChanged": True}
    second = await peer.start(LISTEN, {"notifications": unknown}, request_id="listens by name")
    await peer.wait_for(ACKNOWLEDGED, second)


# --- how it is judged


@check("A subscription is acknowledged first", requirements=("SUB-02", "SUB-03", "SUB-04"), everywhere=True)
def judge_acknowledged(trace: Trace) -> Iterator[Observation]:
    for stream in subscriptions(trace):
        acknowledgement = stream.acknowledgement
        if acknowledgement is None:
            yield from _judge_missing(stream, trace)
            continue
        first, expected = stream.messages[0], "the acknowledgement first"
        for requirement in ("SUB-02", "SUB-03"):
            holds = first is acknowledgement
            yield observe(requirement, holds, stream, first, expected=expected, observed=first)
        problem = _excess(acknowledgement, stream, trace)
        expected = "only notifications that were requested and are supported"
        yield observe("SUB-04", problem is None, stream, acknowledgement, expected=expected, observed=problem)


def _judge_missing(stream: Subscription, trace: Trace) -> Iterator[Observation]:
    """A missing acknowledgement counts if another message came, or the driver waited; an error does not."""
    waited = any(mark.info.get("method") == ACKNOWLEDGED for mark in trace.marks(NOT_RECEIVED))
    first = stream.messages[0] if stream.messages else stream.exchange.answer
    if (first is None and waited) or (first is not None and not first.error):
        yield observe("SUB-02", False, stream, expected=ACKNOWLEDGED, observed=first or "no message")


def _excess(acknowledgement: Message, stream: Subscription, trace: Trace) -> str | None:
    declared = declaration(trace)
    for name, granted in as_object(acknowledgement.params.get("notifications")).items():
        if granted in (False, None, []):
            continue
        if not _is_within(granted, stream.filters.get(name)):
            return f"`{name}`: {granted!r}, which was not requested"
        area = "resources" if name == "resourceSubscriptions" else name.removesuffix("ListChanged")
        if declared is not None and area != name and area not in declared.capabilities:
            return f"`{name}`, although `{area}` is not declared"
    return None


def _is_within(granted: Any, requested: Any) -> bool:
    if isinstance(granted, list):
        return isinstance(requested, list) and all(uri in requested for uri in granted)
    return requested is True


OF_REQUESTS: Final = ("notifications/progress", "notifications/message")


@check(
    "Listen streams carry only what was requested",
    requirements=("SUB-01", "SUB-05", "SUB-08", "SUB-10"),
    everywhere=True,
    history=True,
)
def judge_listen_stream(trace: Trace) -> Iterator[Observation]:
    for stream in subscriptions(trace):
        for message in stream.messages:
            yield from _judge_notification(message, stream)
        yield from _judge_end(stream, trace)
        yield from _judge_after_end(stream)
    for message in strays(trace):
        expected = "the id of a subscription of this connection"
        yield observe("SUB-05", False, message, expected=expected, observed=repr(subscription_id(message)))


def _judge_notification(message: Message, stream: Subscription) -> Iterator[Observation]:
    name = subscription_id(message)
    tagged, expected = same_id(name, stream.exchange.request.id), "the id of the listen request"
    yield observe("SUB-05", tagged, stream, message, expected=expected, observed=repr(name))
    belongs, expected = message.method not in OF_REQUESTS, "no notification about another request"
    yield observe("SUB-10", belongs, stream, message, expected=expected, observed=message)
    if message.method in FILTERS:
        requested, expected = _is_requested(message, stream), "only notifications that were requested"
        yield observe("SUB-01", requested, stream, message, expected=expected, observed=message)


def _is_requested(message: Message, stream: Subscription) -> bool:
    value = stream.filters.get(FILTERS[message.method])
    if message.method != UPDATED:
        return value is True
    uri = str(message.params.get("uri"))
    # An update may name a part of a subscribed resource.
    uris = map(str, value) if isinstance(value, list) else ()
    return any(uri.startswith(each) or each.startswith(uri) for each in uris)


def _judge_end(stream: Subscription, trace: Trace) -> Iterator[Observation]:
    """A server announces that it ends a subscription, unless the driver left or the connection broke."""
    result = stream.exchange.result
    if result is not None:
        name = as_object(result.get("_meta")).get(SUBSCRIPTION_KEY)
        holds = same_id(name, stream.exchange.request.id) and result.get("resultType") == "complete"
        expected = "a `complete` result with the id of the subscription"
        yield observe("SUB-08", holds, stream, expected=expected, observed=stream.exchange.answer)
    elif stream.acknowledgement is not None and stream.exchange.answer is None:
        holds = any(message.method == "notifications/cancelled" for message in stream.messages)
        for end in _clean_ends(stream, trace):
            yield observe("SUB-08", holds, stream, end, expected="a result before the end", observed="none")


def _judge_after_end(stream: Subscription) -> Iterator[Observation]:
    """A result ends a subscription; the messages of a subscription are on one channel."""
    answer = stream.exchange.answer
    for message in stream.messages:
        if answer is not None and message.frame.n > answer.frame.n:
            expected = "no notification after the end of the subscription"
            yield observe("SUB-08", False, stream, message, expected=expected, observed=message)


def _clean_ends(stream: Subscription, trace: Trace) -> list[Frame]:
    """Ends of its response on HTTP; on other transports the channel is shared."""
    request = stream.exchange.request.frame
    own = request.channel if request.kind is Kind.REQUEST else None
    ends = (frame for frame in trace.frames if frame.kind is Kind.END and frame.channel == own)
    return [end for end in ends if end.sender is Sender.SUBJECT and end.info.get("clean") is True]


# --- what the checks must catch


@on_reply("ends a subscription at once, without acknowledgement", breaks="SUB-02")
def listening_is_over(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") != ACKNOWLEDGED:
        return reply
    meta = reply["params"]["_meta"]
    return result_reply({"id": meta[SUBSCRIPTION_KEY]}, {"resultType": "complete", "_meta": meta})


@on_reply("sends a notification before the acknowledgement", breaks="SUB-03")
def notice_before_acknowledgement(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    params = {"_meta": reply["params"]["_meta"]}
    return [{"jsonrpc": "2.0", "method": LISTS["tools"][0], "params": params}, reply]


def _grant_all(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == ACKNOWLEDGED:
        reply["params"]["notifications"] = context.memory[repr(reply["params"]["_meta"][SUBSCRIPTION_KEY])]
    return reply


@on_request("acknowledges every filter", breaks="SUB-04", reply=_grant_all)
def wishes_echoed(message: Json, context: FaultContext) -> Json:
    if message.get("method") == LISTEN:
        context.memory[repr(message["id"])] = params_of(message).get("notifications")
    return message


NOTICES: Final = [notice for notice, *_ in LISTS.values()]


@on_reply("announces changes of all lists on every stream", breaks="SUB-01", scenario="stateless.changes")
def tells_of_all_lists(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") not in NOTICES:
        return [reply]
    return [{**reply, "method": notice} for notice in NOTICES]


@on_reply("sends updates of other resources", breaks="SUB-01", scenario="stateless.changes")
def tells_of_all_resources(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != UPDATED:
        return [reply]
    other = {**reply["params"], "uri": "file:///somewhere/else.txt"}
    return [{**reply, "params": other}, reply]


@on_reply("sends a numeric subscription id as a string", breaks="SUB-05")
def subscription_as_text(reply: Json, context: FaultContext) -> Json:
    meta = meta_of(reply)
    if SUBSCRIPTION_KEY in meta:
        meta[SUBSCRIPTION_KEY] = str(meta[SUBSCRIPTION_KEY])
    return reply


@on_reply("sends notifications without the subscription id", breaks="SUB-05")
def subscription_unnamed(reply: Json, context: FaultContext) -> Json:
    params_of(reply).pop("_meta", None)
    return reply


@on_reply("ends a subscription with a result without its id", breaks="SUB-08")
def ends_unnamed(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    name = reply["params"]["_meta"][SUBSCRIPTION_KEY]
    return [reply, result_reply({"id": name}, {"resultType": "complete"})]


@on_reply("logs on a listen stream", breaks="SUB-10")
def logs_to_listeners(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    params = {"_meta": reply["params"]["_meta"], "level": "info", "data": "somebody listens"}
    return [reply, {"jsonrpc": "2.0", "method": "notifications/message", "params": params}]


@on_reply("sends notifications after the end of a subscription", breaks="SUB-08")
def outlives_itself(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    meta = reply["params"]["_meta"]
    end = result_reply({"id": meta[SUBSCRIPTION_KEY]}, {"resultType": "complete", "_meta": meta})
    notice = {"jsonrpc": "2.0", "method": LISTS["tools"][0], "params": {"_meta": meta}}
    return [reply, end, notice]
