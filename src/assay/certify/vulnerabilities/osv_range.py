"""Whether a version is among those that an OSV record names, by list or by ranges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from .osv_export import Affected, Range
from .version_order import Order, semver

# In this order where they meet: a range may begin and end with the same version.
INTRODUCED, FIXED, LAST_AFFECTED = range(3)
ALL: Final = "*"


def is_affected(affected: Affected, version: str, order: Order) -> bool:
    """
    Raises:
        ValueError: that cannot be told.
    """
    listed, ranges = affected.versions or [], list(_ranges(affected, order))
    if not listed and not ranges:
        raise ValueError("the record names neither versions nor ranges of them")
    return is_listed(version, listed, order) or any(holds(found, version, own) for found, own in ranges)


def first_fix(affected: Affected, version: str, order: Order) -> str | None:
    """The first later version that mends it, and that no other range affects."""
    named = {event.fixed for found, _ in _ranges(affected, order) for event in found.events if event.fixed}
    try:
        later = sorted((fix for fix in named if order(fix) > order(version)), key=order)
        return next((fix for fix in later if not is_affected(affected, fix, order)), None)
    except ValueError:  # a version that compares with nothing, found by its name in the list
        return None


def _ranges(affected: Affected, order: Order) -> Iterator[tuple[Range, Order]]:
    """With how their versions compare. Ranges of commits say nothing about releases."""
    for found in affected.ranges or ():
        if found.type != "GIT":
            yield found, semver if found.type == "SEMVER" else order


def is_listed(version: str, listed: Sequence[str], order: Order) -> bool:
    return version in listed or any(_same(version, other, order) for other in listed)


def _same(one: str, other: str, order: Order) -> bool:
    """On PyPI, 1.0 and 1.0.0 are one version. What is no version there is only itself."""
    try:
        return bool(order(one) == order(other))
    except ValueError:
        return False


def holds(found: Range, version: str, order: Order) -> bool:
    """The evaluation of the OSV schema: walk through the events in their order, as far as the version.

    Raises:
        ValueError: one of the versions cannot be compared.
    """
    at = _point(version, order)
    limits = [event.limit for event in found.events if event.limit]
    if limits and not any(limit == ALL or at < _point(limit, order) for limit in limits):
        return False
    inside = False
    for point, kind in sorted(_events(found, order)):
        if kind == INTRODUCED and at >= point:
            inside = True
        elif (kind == FIXED and at >= point) or (kind == LAST_AFFECTED and at > point):
            inside = False
    return inside


def _events(found: Range, order: Order) -> Iterator[tuple[tuple[Any, ...], int]]:
    for event in found.events:
        named = ((event.introduced, INTRODUCED), (event.fixed, FIXED), (event.last_affected, LAST_AFFECTED))
        for text, kind in named:
            if text is not None:
                yield _point(text, order), kind


def _point(version: str, order: Order) -> tuple[Any, ...]:
    """A place among versions; "0" stands before all of them."""
    return (0,) if version == "0" else (1, order(version))
