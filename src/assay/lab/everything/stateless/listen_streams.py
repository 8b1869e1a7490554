"""Listen streams of the fixtures, as checks read them: acknowledged, named, filtered, and told of changes.

That something did not come proves nothing, unless it came to somebody else who had asked for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness import FaultContext, Json, Observation, Trace, observe, on_reply
from assay.lab.harness.driver.list_change import LISTS
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.sabotage.saboteur import meta_of
from assay.lab.harness.trace.declaration import declaration
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
NAMES: Final = "sep-2575-server-tags-subscription-id"
FILTERED: Final = "sep-2575-server-honors-notification-filter"
CHANGES: Final = {
    "notifications/tools/list_changed": "sep-2575-server-sends-tools-list-changed-on-subscription",
    "notifications/prompts/list_changed": "sep-2575-server-sends-prompts-list-changed-on-subscription",
}
ROWS: Final = (ACKNOWLEDGES, NAMES, FILTERED, *CHANGES.values())
DECLARED_BY: Final = (("tools", "listChanged"), ("prompts", "listChanged"), ("resources", "listChanged"))


def judge_listening(trace: Trace) -> Iterator[Observation]:
    streams = list(subscriptions(trace))
    for stream in streams:
        yield from _acknowledged(stream, trace)
        yield from _named(stream)
    for stray in strays(trace):
        expected = "the id of a subscription of this connection"
        yield observe(NAMES, False, stray, expected=expected, observed=repr(subscription_id(stray)))
    for notice, row in CHANGES.items():
        yield from _filtered(notice, streams)
        yield from _told(notice, row, streams, trace)


def _acknowledged(stream: Subscription, trace: Trace) -> Iterator[Observation]:
    """A server that tells of nothing may refuse; one that declares a change to tell of may not."""
    first = stream.messages[0] if stream.messages else stream.exchange.answer
    waited = any(mark.info.get("method") == ACKNOWLEDGED for mark in trace.marks(NOT_RECEIVED))
    said = declaration(trace)
    due = said is not None and any(said.has(*path) for path in DECLARED_BY)
    refused = first is not None and bool(first.error)
    if (first is not None and not refused) or (due and (refused or waited)):
        holds = first is not None and first.method == ACKNOWLEDGED
        observed = first or "nothing at all"
        yield observe(ACKNOWLEDGES, holds, stream, expected=f"{ACKNOWLEDGED} first", observed=observed)


def _named(stream: Subscription) -> Iterator[Observation]:
    for message in stream.messages:
        name = subscription_id(message)
        holds = same_id(name, stream.exchange.request.id)
        expected = f"the id of the listen request: {stream.exchange.request.id!r}"
        yield observe(NAMES, holds, stream, message, expected=expected, observed=repr(name))


def _filtered(notice: str, streams: list[Subscription]) -> Iterator[Observation]:
    wished = [one for one in streams if one.filters.get(FILTERS[notice]) is True]
    happened = any(message.method == notice for one in wished for message in one.messages)
    for stream in streams:
        if stream in wished or stream.acknowledgement is None:
            continue
        unasked = [message for message in stream.messages if message.method == notice]
        if happened or unasked:
            expected = f"no {notice}, which it did not ask for"
            yield observe(FILTERED, not unasked, stream, *unasked, expected=expected, observed=notice)


def _told(notice: str, row: str, streams: list[Subscription], trace: Trace) -> Iterator[Observation]:
    waited = [mark for mark in trace.marks(NOT_RECEIVED) if mark.info.get("method") == notice]
    for stream in streams:
        if stream.filters.get(FILTERS[notice]) is True:
            heard = [message for message in stream.messages if message.method == notice]
            if heard or waited:
                expected = f"{notice} after a change"
                yield observe(row, not waited, stream, *heard, expected=expected, observed="none")


# --- what the checks must catch


@on_reply(
    "who listens for prompts hears of tools as well", breaks="sep-2575-server-honors-notification-filter"
)
def every_change_to_all(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != LISTS["prompts"][0]:
        return [reply]
    return [{**reply, "method": LISTS["tools"][0]}, reply]


@on_reply(
    "the list of prompts changes, and listeners are not told",
    breaks="sep-2575-server-sends-prompts-list-changed-on-subscription",
    silent=True,
)
def prompts_change_in_silence(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == LISTS["prompts"][0] else reply


@on_reply("a change comes before the acknowledgement", breaks="sep-2575-server-sends-subscription-ack")
def change_comes_first(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    notice = {"jsonrpc": "2.0", "method": LISTS["tools"][0], "params": {"_meta": reply["params"]["_meta"]}}
    return [notice, reply]


@on_reply(
    "the list of tools changes, and listeners are not told",
    breaks="sep-2575-server-sends-tools-list-changed-on-subscription",
    silent=True,
)
def tools_change_in_silence(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == LISTS["tools"][0] else reply


@on_reply("notifications name another subscription", breaks="sep-2575-server-tags-subscription-id")
def changes_untagged(reply: Json, context: FaultContext) -> Json:
    if reply.get("method", "").endswith("list_changed"):
        meta_of(reply)[SUBSCRIPTION_KEY] = "another one"
    return reply
