"""Updates of resources go only to those who subscribed, as long as they are subscribed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness import FaultContext, Json, Observation, Trace, check, observe, on_reply
from assay.lab.harness.driver.list_change import UPDATED
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.order import is_later
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import STDIO_ONLY
from assay.revisions.revision import Opening

SUBSCRIBE: Final = "resources/subscribe"
UNSUBSCRIBE: Final = "resources/unsubscribe"

# --- how it is judged


@check("Updates are sent only to subscribers", requirements=("RS-20",), everywhere=True)
def judge_only_subscribed(trace: Trace) -> Iterator[Observation]:
    if trace.revision.opening is not Opening.HANDSHAKE:
        return
    for message in trace.received:
        if message.method == UPDATED:
            problem = _problem(message, trace)
            expected = "updates of resources to which the client is subscribed"
            yield observe("RS-20", problem is None, message, expected=expected, observed=problem)


def _problem(update: Message, trace: Trace) -> str | None:
    uri = str(update.params.get("uri"))
    requests = [each for each in trace.exchanges(SUBSCRIBE, UNSUBSCRIBE) if _concerns(each, update, uri)]
    if not any(exchange.method == SUBSCRIBE for exchange in requests):
        return f"an update of {uri[:120]!r}, to which this client did not subscribe"
    last = requests[-1]
    ended = last.method == UNSUBSCRIBE and last.result is not None and last.answer is not None
    if ended and last.answer is not None and is_later(update, last.answer, trace):
        return f"an update of {uri[:120]!r} after the end of the subscription"
    return None


def _concerns(exchange: Exchange, update: Message, uri: str) -> bool:
    """Whether a request came before the update on its connection. An update may name a part of a resource."""
    request, subscribed = exchange.request.frame, str(exchange.params.get("uri"))
    earlier = request.connection == update.frame.connection and request.n < update.frame.n
    return earlier and (uri.startswith(subscribed) or subscribed.startswith(uri))


# --- what the checks must catch


def _update(uri: object) -> Json:
    return {"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": uri}}


@on_reply(
    "sends updates to a client that did not subscribe",
    breaks="RS-20",
    transports=STDIO_ONLY,
    scenario="robustness.plain-requests",
)
def updates_unasked(reply: Json, context: FaultContext) -> list[Json]:
    return [_update("file:///notes.txt"), reply] if context.method == "resources/list" else [reply]


@on_reply(
    "sends updates of other resources than the one that was subscribed to",
    breaks="RS-20",
    transports=STDIO_ONLY,
    scenario="resources.subscribing",
)
def updates_of_others(reply: Json, context: FaultContext) -> list[Json]:
    return [reply, _update("file:///notes.txt")] if context.method == SUBSCRIBE else [reply]


@on_reply(
    "sends updates after the end of a subscription, whatever changed",
    breaks="RS-20",
    transports=STDIO_ONLY,
    scenario="resources.subscribing",
)
def updates_after_the_end(reply: Json, context: FaultContext) -> list[Json]:
    return [reply, _update(context.params.get("uri"))] if context.method == UNSUBSCRIBE else [reply]
