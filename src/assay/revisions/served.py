"""The revisions that one server serves: all of them, or those that its author chose."""

from __future__ import annotations

from collections.abc import Iterable

from .registry import ASSUMED, BY_DATE, HANDSHAKE, REVISIONS
from .revision import Opening, Revision


class Served:
    """A choice of revisions. Whatever the order of the argument, they are kept from old to new."""

    __slots__ = ("assumed", "by_date", "dates", "default", "handshake", "newest_first")

    def __init__(self, revisions: Iterable[Revision]) -> None:
        chosen = set(revisions)
        self.by_date = {revision.date: revision for revision in REVISIONS if revision in chosen}
        self.dates = tuple(self.by_date)
        self.newest_first = list(reversed(self.dates))
        """For clients that pick the first version they know: so they pick the best."""
        self.handshake = tuple(
            revision for revision in self.by_date.values() if revision.opening is Opening.HANDSHAKE
        )
        self.default = self.handshake[-1] if self.handshake else HANDSHAKE[-1]
        """The revision of a message that names none, outside of HTTP. If no revision with a handshake is
        served, it is one that is not, and the message is refused."""
        self.assumed = ASSUMED if ASSUMED in chosen else self.default
        """The revision of a session before its handshake."""

    def negotiate(self, requested: str) -> Revision | None:
        """Answer an `initialize`: the requested revision if it is served and has a handshake, else the newest
        one; none if no revision with a handshake is served."""
        revision = self.by_date.get(requested)
        return revision if revision in self.handshake else next(reversed(self.handshake), None)


EVERY = Served(REVISIONS)


def read_served(dates: Iterable[str], known: Served = EVERY) -> Served:
    """
    Raises:
        ValueError: it is empty, or a date is not one of the known ones.
    """
    if isinstance(dates, str):
        raise ValueError(f"revisions must be a list of dates: write [{dates!r}]")
    chosen = list(dates)
    choices = ", ".join(known.dates)
    if not chosen:
        raise ValueError(f"no revision would be served: choose from {choices}")
    unknown = [date for date in chosen if date not in known.dates]
    if unknown:
        raise ValueError(f"unknown revision: {unknown[0]!r}; choose from {choices}")
    return Served(BY_DATE[date] for date in chosen)
