"""What tools and prompts have in common: a server declares them, lists them, and tells when a list changes.

Judged here once, for the checks of both areas, each of which cites its own rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from msgspec import Struct

from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.trace.declaration import declaration
from assay.lab.harness.trace.listing import Listing, listings
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import NOT_HEARD


class Offer(Struct, frozen=True):
    """Something that servers list."""

    capability: str
    """Also the key under which a page holds them."""

    @property
    def method(self) -> str:
        return f"{self.capability}/list"

    @property
    def notice(self) -> str:
        return f"notifications/{self.capability}/list_changed"

    @property
    def wish(self) -> str:
        """What a listener asks for to hear of changes, where it must ask."""
        return f"{self.capability}ListChanged"


TOOLS: Final = Offer("tools")
PROMPTS: Final = Offer("prompts")


def observe_declared(trace: Trace, row: str, offer: Offer) -> Iterator[Observation]:
    """What is offered is declared; what is neither offered nor declared is well, too."""
    said = declaration(trace)
    for exchange in trace.exchanges(offer.method):
        if said is None or exchange.answer is None:
            continue
        offered = len(exchange.objects(offer.capability))
        yield observe(
            row,
            not offered or said.has(offer.capability),
            said,
            exchange,
            expected=f"`{offer.capability}` among the declared capabilities",
            observed=f"{offered} {offer.capability}, declared: {', '.join(said.capabilities) or 'nothing'}",
        )


def observe_available(trace: Trace, row: str, offer: Offer) -> Iterator[Observation]:
    """Who declares a list has one to show, if only an empty one."""
    said = declaration(trace)
    for exchange in trace.exchanges(offer.method):
        if said is not None and said.has(offer.capability) and exchange.answer is not None:
            given = (exchange.result or {}).get(offer.capability)
            yield observe(
                row,
                isinstance(given, list),
                exchange,
                expected=f"a result with the list `{offer.capability}`",
                observed=exchange,
            )


def observe_same_for_all(trace: Trace, row: str, offer: Offer) -> Iterator[Observation]:
    """Two connections that read by turns see the same set.

    A list may change over time. So only what each of them sees twice is compared: a change in between
    shows on both.
    """
    steady = [pair for pair in _by_connection(trace, offer).values() if _is_steady(*pair)]
    for one, other in pairwise(steady):
        differing = set(one[-1].names) ^ set(other[-1].names)
        yield observe(
            row,
            not differing,
            one[-1],
            other[-1],
            expected=f"the same {offer.capability} on every connection, whatever else was asked on it",
            observed=f"only one of two connections is shown {', '.join(sorted(differing))}",
        )


def _by_connection(trace: Trace, offer: Offer) -> dict[str, tuple[Listing, Listing]]:
    """The last two readings of each connection that has read at least twice."""
    read: dict[str, list[Listing]] = {}
    for listing in listings(trace, offer.method, offer.capability):
        if listing.complete:
            read.setdefault(listing.connection, []).append(listing)
    return {name: (found[-2], found[-1]) for name, found in read.items() if len(found) > 1}


def _is_steady(one: Listing, other: Listing) -> bool:
    return set(one.names) == set(other.names)


def observe_order(trace: Trace, row: str, offer: Offer) -> Iterator[Observation]:
    """As long as the set is the same, so is its order."""
    complete = [one for one in listings(trace, offer.method, offer.capability) if one.complete]
    for one, other in pairwise(complete):
        if _is_steady(one, other) and len(one.names) > 1:
            yield observe(
                row,
                one.names == other.names,
                one,
                other,
                expected="the same order as before",
                observed=", ".join(other.names),
            )


def observe_change_announced(trace: Trace, row: str, offer: Offer) -> Iterator[Observation]:
    """A list that came out different was announced, if the server declares that it announces changes.

    That nothing came is only believed where the driver listened and waited for it.
    """
    said = declaration(trace)
    if said is None or not said.has(offer.capability, "listChanged"):
        return
    complete = [one for one in listings(trace, offer.method, offer.capability) if one.complete]
    told = [one for one in trace.received if one.method == offer.notice]
    waited = any(mark.info.get("method") == offer.notice for mark in trace.marks(NOT_HEARD))
    for before, after in pairwise(complete):
        if before.connection != after.connection or _is_steady(before, after):
            continue
        came = any(_follows(notice, before) for notice in told)
        if came or waited:
            expected = f"{offer.notice} after the list had changed"
            yield observe(row, came, before, after, expected=expected, observed="none came")


def _follows(notice: Message, listing: Listing) -> bool:
    frame = notice.frame
    return frame.connection == listing.connection and frame.n > listing.frames[-1].n


def observe_unannounced(trace: Trace, row: str, offer: Offer) -> Iterator[Observation]:
    """Nobody hears of changes from a server that did not declare to tell of them."""
    said = declaration(trace)
    if said is None:
        return
    for message in trace.received:
        if message.method == offer.notice:
            yield observe(
                row,
                said.has(offer.capability, "listChanged"),
                said,
                message,
                expected=f"`{offer.capability}.listChanged` declared by who sends {offer.notice}",
                observed="not declared",
            )
