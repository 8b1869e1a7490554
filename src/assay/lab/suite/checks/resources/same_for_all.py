"""The set of resources does not depend on the connection, nor on what was done on it before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import check
from assay.lab.harness.trace.listing import Listing, listings
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROUNDS: Final = 3
"""Readings in turn that must agree with themselves and not with each other: a list may change over time."""


@check("All connections see the same resources", rows=("RS-06",))
def judge(trace: Trace) -> Iterator[Observation]:
    by_connection: dict[str, list[Listing]] = defaultdict(list)
    for listing in listings(trace, "resources/list", "resources"):
        if listing.complete:
            by_connection[listing.connection].append(listing)
    if len(by_connection) < 2:
        return
    one, other, *_ = by_connection.values()
    if _uris(one[-1]) == _uris(other[-1]):
        yield observe("RS-06", True, one[-1], other[-1], expected="the same set", observed="the same set")
    elif _steady(one) and _steady(other):
        differing = ", ".join(sorted(_uris(one[-1]) ^ _uris(other[-1])))
        yield observe(
            "RS-06",
            False,
            one[-1],
            other[-1],
            expected="the same resources on both connections",
            observed=f"only one of them has {differing}, each time",
        )


def _uris(listing: Listing) -> frozenset[str]:
    return frozenset(str(item.get("uri")) for item in listing.items)


def _steady(read: list[Listing]) -> bool:
    return len(read) >= ROUNDS and len({_uris(one) for one in read[-ROUNDS:]}) == 1
