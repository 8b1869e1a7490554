"""Listen streams: how scenarios open them, and how checks read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import Stage, Trace
from assay.lab.harness.driver.list_change import LISTS, UPDATED, announced_lists
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.server_stream import open_ears
from assay.lab.harness.need import Need
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import Exchange
from assay.revisions.revision import Opening

from .self_description import as_object

LISTEN: Final = "subscriptions/listen"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
WISHES: Final = {
    **{notice: f"{area}ListChanged" for area, (notice, *_) in LISTS.items()},
    UPDATED: "resourceSubscriptions",
}
"""What a client must ask for to be sent a notification."""
TELLS: Final = Need(
    lambda facts: bool(announced_lists(facts)) or facts.declares("resources", "subscribe"),
    "tells of no changes",
)
ON_STREAMS: Final = frozenset({*WISHES, ACKNOWLEDGED})
"""Notifications that come for a subscription and for nothing else."""


class Subscription(Struct, frozen=True):
    exchange: Exchange
    messages: tuple[Message, ...]
    """Notifications that came for it, in order."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.exchange.frames

    @property
    def wishes(self) -> dict[str, Any]:
        return as_object(self.exchange.params.get("notifications"))

    @property
    def acknowledgement(self) -> Message | None:
        return next((one for one in self.messages if one.method == ACKNOWLEDGED), None)


def subscription_id(message: Message) -> Any:
    return as_object(message.params.get("_meta")).get(SUBSCRIPTION_KEY)


def subscriptions(trace: Trace) -> Iterator[Subscription]:
    notices = [one for one in trace.received if one.shape is Shape.NOTIFICATION]
    for exchange in trace.exchanges(LISTEN):
        mine = tuple(one for one in notices if _belongs(one, exchange.request))
        yield Subscription(exchange, mine)


def _belongs(notice: Message, request: Message) -> bool:
    if request.frame.kind is Kind.REQUEST:
        return notice.frame.channel == request.frame.channel
    here = notice.frame.connection == request.frame.connection
    return here and same_id(subscription_id(notice), request.id)


def strays(trace: Trace) -> Iterator[Message]:
    """Notifications of subscriptions that name none of their connection.

    A connection on which there was a handshake too is left out: there they come unasked.
    """
    greeted = {one.request.frame.connection for one in trace.exchanges("initialize")}
    taken = {id(one) for found in subscriptions(trace) for one in found.messages}
    for message in trace.received:
        ours = message.method in ON_STREAMS and message.frame.connection not in greeted
        if ours and id(message) not in taken:
            yield message


async def listen(stage: Stage, peer: Peer, *wishes: str) -> set[str]:
    """Open the place where these would come; returns those that the server lets us hear there."""
    if stage.revision.opening is Opening.PER_REQUEST:
        return await _subscribed(peer, wishes)
    return set(wishes) if await open_ears(stage, peer) else set()


async def _subscribed(peer: Peer, wishes: tuple[str, ...]) -> set[str]:
    pending = await peer.start("subscriptions/listen", {"notifications": dict.fromkeys(wishes, True)})
    heard = await peer.hear(ACKNOWLEDGED, during=pending)
    granted: Any = None if heard is None else heard.params.get("notifications")
    return {wish for wish in wishes if isinstance(granted, dict) and granted.get(wish) is True}
