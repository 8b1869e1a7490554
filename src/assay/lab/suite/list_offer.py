"""Rules for the lists of tools and of prompts: declared, available, stable, announced when they change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from msgspec import Struct

from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.trace.listing import Listing, declaration, listings
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import NOT_RECEIVED

from .self_description import is_usual


class Offer(Struct, frozen=True):
    """A list of a server: the capability is also its key in a page of results."""

    capability: str

    @property
    def method(self) -> str:
        return f"{self.capability}/list"

    @property
    def notice(self) -> str:
        return f"notifications/{self.capability}/list_changed"

    @property
    def filter(self) -> str:
        """The key in `subscriptions/listen` that requests notifications of changes."""
        return f"{self.capability}ListChanged"


TOOLS: Final = Offer("tools")
PROMPTS: Final = Offer("prompts")


def observe_declared(trace: Trace, requirement: str, offer: Offer) -> Iterator[Observation]:
    """A server that lists entries declares the capability."""
    declared = declaration(trace)
    for exchange in trace.exchanges(offer.method):
        if declared is None or exchange.answer is None:
            continue
        listed = len(exchange.objects(offer.capability))
        names = ", ".join(declared.capabilities) or "nothing"
        yield observe(
            requirement,
            not listed or declared.has(offer.capability),
            declared,
            exchange,
            expected=f"`{offer.capability}` among the declared capabilities",
            observed=f"{listed} {offer.capability}, declared: {names}",
        )


def observe_available(trace: Trace, requirement: str, offer: Offer) -> Iterator[Observation]:
    """A server that declares the capability has a list, which may be empty."""
    declared = declaration(trace)
    for exchange in trace.exchanges(offer.method):
        usual = exchange.answer is not None and is_usual(exchange, trace)
        if declared is not None and declared.has(offer.capability) and usual:
            available = isinstance((exchange.result or {}).get(offer.capability), list)
            expected = f"a result with the list `{offer.capability}`"
            yield observe(requirement, available, exchange, expected=expected, observed=exchange)


def observe_same_for_all(trace: Trace, requirement: str, offer: Offer) -> Iterator[Observation]:
    """Two connections that read by turns see the same entries.

    A list may change over time, so a connection is compared only if its last two readings agree, and one
    of the other connection came between them.
    """
    readings: dict[str, list[Listing]] = {}
    for listing in _complete(trace, offer):
        readings.setdefault(listing.connection, []).append(listing)
    steady = [lists[-2:] for lists in readings.values() if len(lists) > 1 and _same_entries(*lists[-2:])]
    for (*_, first), (*_, second) in (pair for pair in pairwise(steady) if overlap(*pair)):
        differing = set(first.names) ^ set(second.names)
        expected = f"the same {offer.capability} on every connection, independent of other requests"
        observed = f"only one of two connections lists {', '.join(sorted(differing))}"
        yield observe(requirement, not differing, first, second, expected=expected, observed=observed)


def overlap(first: list[Listing], second: list[Listing]) -> bool:
    """Whether a list was read on both connections by turns, so that a change would show on both."""
    return all(
        early[0].frames[0].n < late[-1].frames[-1].n for early, late in ((first, second), (second, first))
    )


def _complete(trace: Trace, offer: Offer) -> list[Listing]:
    return [listing for listing in listings(trace, offer.method, offer.capability) if listing.complete]


def _same_entries(first: Listing, second: Listing) -> bool:
    return set(first.names) == set(second.names)


def observe_order(trace: Trace, requirement: str, offer: Offer) -> Iterator[Observation]:
    """Lists with the same entries have the same order."""
    for first, second in pairwise(_complete(trace, offer)):
        if _same_entries(first, second) and len(first.names) > 1:
            same, observed = first.names == second.names, ", ".join(second.names)
            expected = "the same order as before"
            yield observe(requirement, same, first, second, expected=expected, observed=observed)


def observe_change_announced(trace: Trace, requirement: str, offer: Offer) -> Iterator[Observation]:
    """A server that declares `listChanged` announces changes.

    A missing notification is a fault only if the driver listened and waited for it.
    """
    declared = declaration(trace)
    if declared is None or not declared.has(offer.capability, "listChanged"):
        return
    notices = [message for message in trace.received if message.method == offer.notice]
    waited = any(mark.info.get("method") == offer.notice for mark in trace.marks(NOT_RECEIVED))
    for before, after in pairwise(_complete(trace, offer)):
        if before.connection != after.connection or _same_entries(before, after):
            continue
        came = any(_follows(notice, before) for notice in notices)
        if came or waited:
            expected = f"{offer.notice} after the list had changed"
            yield observe(requirement, came, before, after, expected=expected, observed="no notification")


def _follows(notice: Message, listing: Listing) -> bool:
    frame = notice.frame
    return frame.connection == listing.connection and frame.n > listing.frames[-1].n


def observe_unannounced(trace: Trace, requirement: str, offer: Offer) -> Iterator[Observation]:
    """A server announces changes only if it declares `listChanged`."""
    declared = declaration(trace)
    for message in trace.received:
        if declared is not None and message.method == offer.notice:
            negotiated = declared.has(offer.capability, "listChanged")
            expected = (
                f"`{offer.capability}.listChanged` to be declared by a server that sends {offer.notice}"
            )
            yield observe(
                requirement, negotiated, declared, message, expected=expected, observed="not declared"
            )
