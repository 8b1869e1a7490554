"""Listen streams: how scenarios open them, and how checks read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import Stage, Trace
from assay.lab.harness.driver.list_change import LISTS, UPDATED, announced_lists
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import open_server_stream
from assay.lab.harness.need import Need
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import Exchange
from assay.revisions.revision import Opening

from .self_description import as_object

LISTEN: Final = "subscriptions/listen"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
FILTERS: Final = {
    **{notice: f"{area}ListChanged" for area, (notice, *_) in LISTS.items()},
    UPDATED: "resourceSubscriptions",
}
"""The filter with which a client requests each notification."""
NOTIFIES: Final = Need(
    lambda facts: bool(announced_lists(facts)) or facts.declares("resources", "subscribe"),
    "sends no notifications of changes",
)
ON_STREAMS: Final = frozenset({*FILTERS, ACKNOWLEDGED})
"""Notifications that come only for a subscription."""


class Subscription(Struct, frozen=True):
    exchange: Exchange
    messages: tuple[Message, ...]
    """Its notifications, in order."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.exchange.frames

    @property
    def filters(self) -> dict[str, Any]:
        """The notifications that the client requested."""
        return as_object(self.exchange.params.get("notifications"))

    @property
    def acknowledgement(self) -> Message | None:
        return next((message for message in self.messages if message.method == ACKNOWLEDGED), None)


def subscription_id(message: Message) -> Any:
    return message.meta.get(SUBSCRIPTION_KEY)


def subscriptions(trace: Trace) -> Iterator[Subscription]:
    notices = [message for message in trace.received if message.shape is Shape.NOTIFICATION]
    for exchange in trace.exchanges(LISTEN):
        yield Subscription(
            exchange, tuple(notice for notice in notices if _belongs(notice, exchange.request))
        )


def _belongs(notice: Message, request: Message) -> bool:
    if request.frame.kind is Kind.REQUEST:
        return notice.frame.channel == request.frame.channel
    same_connection = notice.frame.connection == request.frame.connection
    return same_connection and same_id(subscription_id(notice), request.id)


def strays(trace: Trace) -> Iterator[Message]:
    """Notifications that name no subscription of their connection.

    Connections with a handshake are left out, since there these notifications need no subscription, and so
    are responses to other requests, which `streams.related` judges.
    """
    handshakes = {exchange.request.frame.connection for exchange in trace.exchanges("initialize")}
    responses = {call.channel for call in trace.calls}
    assigned = {id(message) for stream in subscriptions(trace) for message in stream.messages}
    for message in trace.received:
        on_stream = message.method in ON_STREAMS and message.frame.connection not in handshakes
        if on_stream and message.frame.channel not in responses and id(message) not in assigned:
            yield message


async def listen(stage: Stage, peer: Peer, *filters: str) -> set[str]:
    """Open the stream for these notifications; returns those that the server will send there."""
    if stage.revision.opening is not Opening.PER_REQUEST:
        return set(filters) if await open_server_stream(stage, peer) else set()
    pending = await peer.start(LISTEN, {"notifications": dict.fromkeys(filters, True)})
    acknowledgement = await peer.wait_for(ACKNOWLEDGED, during=pending)
    granted = as_object(acknowledgement.params.get("notifications")) if acknowledgement is not None else {}
    return {name for name in filters if granted.get(name) is True}
