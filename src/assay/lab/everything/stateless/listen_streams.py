"""Listen streams of the fixtures: acknowledged, tagged, filtered, and notified of changes.

A missing notification is only a fault if another stream that requested it received it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness import FaultContext, Json, Observation, Trace, observe, on_reply
from assay.lab.harness.driver.list_change import LISTS
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.sabotage.saboteur import meta_of
from assay.lab.harness.trace.listing import declaration
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import NOT_RECEIVED
from assay.lab.suite.subscription import (
    ACKNOWLEDGED,
    FILTERS,
    Subscription,
    strays,
    subscription_id,
    subscriptions,
)

ACKNOWLEDGES: Final = "sep-2575-server-sends-subscription-ack"
TAGGED: Final = "sep-2575-server-tags-subscription-id"
FILTERED: Final = "sep-2575-server-honors-notification-filter"
CHANGES: Final = {
    "notifications/tools/list_changed": "sep-2575-server-sends-tools-list-changed-on-subscription",
    "notifications/prompts/list_changed": "sep-2575-server-sends-prompts-list-changed-on-subscription",
}
ROWS: Final = (ACKNOWLEDGES, TAGGED, FILTERED, *CHANGES.values())
DECLARED_BY: Final = (("tools", "listChanged"), ("prompts", "listChanged"), ("resources", "listChanged"))


def judge_listening(trace: Trace) -> Iterator[Observation]:
    streams = list(subscriptions(trace))
    for stream in streams:
        yield from _judge_acknowledgement(stream, trace)
        yield from _judge_tags(stream)
    for stray in strays(trace):
        expected = "the id of a subscription of this connection"
        yield observe(TAGGED, False, stray, expected=expected, observed=repr(subscription_id(stray)))
    for notice, requirement in CHANGES.items():
        yield from _judge_filter(notice, streams)
        yield from _judge_changes(notice, requirement, streams, trace)


def _judge_acknowledgement(stream: Subscription, trace: Trace) -> Iterator[Observation]:
    """A server that declares notifications of changes may not refuse; others may."""
    first = stream.messages[0] if stream.messages else stream.exchange.answer
    waited = any(mark.info.get("method") == ACKNOWLEDGED for mark in trace.marks(NOT_RECEIVED))
    declared = declaration(trace)
    due = declared is not None and any(declared.has(*path) for path in DECLARED_BY)
    refused = first is not None and bool(first.error)
    if (first is not None and not refused) or (due and (refused or waited)):
        holds = first is not None and first.method == ACKNOWLEDGED
        observed = first or "nothing at all"
        yield observe(ACKNOWLEDGES, holds, stream, expected=f"{ACKNOWLEDGED} first", observed=observed)


def _judge_tags(stream: Subscription) -> Iterator[Observation]:
    for message in stream.messages:
        name = subscription_id(message)
        holds = same_id(name, stream.exchange.request.id)
        expected = f"the id of the listen request: {stream.exchange.request.id!r}"
        yield observe(TAGGED, holds, stream, message, expected=expected, observed=repr(name))


def _judge_filter(notice: str, streams: list[Subscription]) -> Iterator[Observation]:
    requested = [stream for stream in streams if stream.filters.get(FILTERS[notice]) is True]
    happened = any(message.method == notice for stream in requested for message in stream.messages)
    for stream in streams:
        if stream in requested or stream.acknowledgement is None:
            continue
        extra = [message for message in stream.messages if message.method == notice]
        if happened or extra:
            expected = f"no {notice}, which it did not request"
            yield observe(FILTERED, not extra, stream, *extra, expected=expected, observed=notice)


def _judge_changes(
    notice: str, requirement: str, streams: list[Subscription], trace: Trace
) -> Iterator[Observation]:
    waited = [mark for mark in trace.marks(NOT_RECEIVED) if mark.info.get("method") == notice]
    for stream in streams:
        if stream.filters.get(FILTERS[notice]) is True:
            notices = [message for message in stream.messages if message.method == notice]
            if notices or waited:
                expected = f"{notice} after a change"
                yield observe(requirement, not waited, stream, *notices, expected=expected, observed="none")


# --- what the checks must catch


@on_reply(
    "sends changes of tools to listeners for prompts", breaks="sep-2575-server-honors-notification-filter"
)
def every_change_to_all(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != LISTS["prompts"][0]:
        return [reply]
    return [{**reply, "method": LISTS["tools"][0]}, reply]


@on_reply(
    "does not notify listeners of changed prompts",
    breaks="sep-2575-server-sends-prompts-list-changed-on-subscription",
    silent=True,
)
def prompts_change_in_silence(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == LISTS["prompts"][0] else reply


@on_reply("sends a change before the acknowledgement", breaks="sep-2575-server-sends-subscription-ack")
def change_comes_first(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    notice = {"jsonrpc": "2.0", "method": LISTS["tools"][0], "params": {"_meta": reply["params"]["_meta"]}}
    return [notice, reply]


@on_reply(
    "does not notify listeners of changed tools",
    breaks="sep-2575-server-sends-tools-list-changed-on-subscription",
    silent=True,
)
def tools_change_in_silence(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == LISTS["tools"][0] else reply


@on_reply("tags notifications with another subscription", breaks="sep-2575-server-tags-subscription-id")
def changes_untagged(reply: Json, context: FaultContext) -> Json:
    if reply.get("method", "").endswith("list_changed"):
        meta_of(reply)[SUBSCRIPTION_KEY] = "another one"
    return reply
