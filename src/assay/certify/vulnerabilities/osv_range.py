"""Whether an OSV record affects a version, by its list of versions or its ranges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from .osv_export import Affected, Range
from .version_order import Order, semver

# The sort order of events at the same version: a range may begin and end with one version.
INTRODUCED, FIXED, LAST_AFFECTED = range(3)
ALL: Final = "*"


def is_affected(affected: Affected, version: str, order: Order) -> bool:
    """
    Raises:
        ValueError: the version cannot be compared.
    """
    listed, ranges = affected.versions or [], list(_ranges(affected, order))
    if not listed and not ranges:
        raise ValueError("the record lists neither versions nor ranges")
    return is_listed(version, listed, order) or any(
        contains(part, version, part_order) for part, part_order in ranges
    )


def first_fix(affected: Affected, version: str, order: Order) -> str | None:
    """The first later version with a fix that no other range affects."""
    fixes = {event.fixed for part, _ in _ranges(affected, order) for event in part.events if event.fixed}
    try:
        later = sorted((fix for fix in fixes if order(fix) > order(version)), key=order)
        return next((fix for fix in later if not is_affected(affected, fix, order)), None)
    except ValueError:  # the version matched by name only, and cannot be compared
        return None


def _ranges(affected: Affected, order: Order) -> Iterator[tuple[Range, Order]]:
    """The ranges, each with the order of its versions. Ranges of commits do not apply to releases."""
    for part in affected.ranges or ():
        if part.type != "GIT":
            yield part, semver if part.type == "SEMVER" else order


def is_listed(version: str, listed: Sequence[str], order: Order) -> bool:
    return version in listed or any(_same(version, other, order) for other in listed)


def _same(version: str, other: str, order: Order) -> bool:
    """Whether two spellings are the same version: on PyPI, 1.0 and 1.0.0 are. Invalid versions never are."""
    try:
        return bool(order(version) == order(other))
    except ValueError:
        return False


def contains(part: Range, version: str, order: Order) -> bool:
    """Evaluate a range as the OSV schema defines: apply the sorted events up to the version.

    Raises:
        ValueError: a version cannot be compared.
    """
    at = _point(version, order)
    limits = [event.limit for event in part.events if event.limit]
    if limits and not any(limit == ALL or at < _point(limit, order) for limit in limits):
        return False
    inside = False
    for point, kind in sorted(_events(part, order)):
        if kind == INTRODUCED and at >= point:
            inside = True
        elif (kind == FIXED and at >= point) or (kind == LAST_AFFECTED and at > point):
            inside = False
    return inside


def _events(part: Range, order: Order) -> Iterator[tuple[tuple[Any, ...], int]]:
    for event in part.events:
        boundaries = (
            (event.introduced, INTRODUCED),
            (event.fixed, FIXED),
            (event.last_affected, LAST_AFFECTED),
        )
        for text, kind in boundaries:
            if text is not None:
                yield _point(text, order), kind


def _point(version: str, order: Order) -> tuple[Any, ...]:
    """A sort key for versions; "0" precedes all others."""
    return (0,) if version == "0" else (1, order(version))
