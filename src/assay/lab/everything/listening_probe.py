"""Listen streams of the fixtures, as checks read them: acknowledged, named, filtered, and told of changes.

That something did not come proves nothing, unless it came to somebody else who had asked for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.trace.declaration import declaration
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import NOT_HEARD, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.listening import ACKNOWLEDGED
from assay.lab.suite.subscription import WISHES, Subscription, strays, subscription_id, subscriptions

ACKNOWLEDGES: Final = "sep-2575-server-sends-subscription-ack"
NAMES: Final = "sep-2575-server-tags-subscription-id"
FILTERS: Final = "sep-2575-server-honors-notification-filter"
TELLS: Final = {
    "notifications/tools/list_changed": "sep-2575-server-sends-tools-list-changed-on-subscription",
    "notifications/prompts/list_changed": "sep-2575-server-sends-prompts-list-changed-on-subscription",
}
ROWS: Final = (ACKNOWLEDGES, NAMES, FILTERS, *TELLS.values())
DECLARED_BY: Final = (("tools", "listChanged"), ("prompts", "listChanged"), ("resources", "listChanged"))


def judge_listening(trace: Trace) -> Iterator[Observation]:
    streams = list(subscriptions(trace))
    for stream in streams:
        yield from _acknowledged(stream, trace)
        yield from _named(stream)
    for stray in strays(trace):
        expected = "the id of a subscription of this connection"
        yield observe(NAMES, False, stray, expected=expected, observed=repr(subscription_id(stray)))
    for notice, row in TELLS.items():
        yield from _filtered(notice, streams)
        yield from _told(notice, row, streams, trace)


def _acknowledged(stream: Subscription, trace: Trace) -> Iterator[Observation]:
    """A server that tells of nothing may refuse; one that declares a change to tell of may not."""
    first = stream.messages[0] if stream.messages else stream.exchange.answer
    waited = any(mark.info.get("method") == ACKNOWLEDGED for mark in trace.marks(NOT_HEARD))
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
    wished = [one for one in streams if one.wishes.get(WISHES[notice]) is True]
    happened = any(message.method == notice for one in wished for message in one.messages)
    for stream in streams:
        if stream in wished or stream.acknowledgement is None:
            continue
        unasked = [message for message in stream.messages if message.method == notice]
        if happened or unasked:
            expected = f"no {notice}, which it did not ask for"
            yield observe(FILTERS, not unasked, stream, *unasked, expected=expected, observed=notice)


def _told(notice: str, row: str, streams: list[Subscription], trace: Trace) -> Iterator[Observation]:
    waited = [mark for mark in trace.marks(NOT_HEARD) if mark.info.get("method") == notice]
    for stream in streams:
        if stream.wishes.get(WISHES[notice]) is True:
            heard = [message for message in stream.messages if message.method == notice]
            if heard or waited:
                expected = f"{notice} after a change"
                yield observe(row, not waited, stream, *heard, expected=expected, observed="none")
