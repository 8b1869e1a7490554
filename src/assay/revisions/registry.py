"""All supported revisions, oldest first."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from .revision import Opening, Revision


def _load() -> tuple[Revision, ...]:
    """The value of each `r<date>.py` in this package: to add a revision, add its file."""
    package = __package__ or ""
    path = import_module(package).__path__
    names = [name for _, name, _ in iter_modules(path) if name[0] == "r" and name[1].isdigit()]
    loaded = [import_module(f"{package}.{name}").REVISION for name in names]
    return tuple(sorted(loaded, key=lambda revision: revision.date))


REVISIONS: Final = _load()
BY_DATE: Final = {revision.date: revision for revision in REVISIONS}
HANDSHAKE: Final = tuple(revision for revision in REVISIONS if revision.opening is Opening.HANDSHAKE)
PER_REQUEST: Final = tuple(revision for revision in REVISIONS if revision.opening is Opening.PER_REQUEST)
DATES: Final = tuple(BY_DATE)
SELF_DESCRIBING: Final = (
    frozenset()
    .union(*(revision.requests for revision in PER_REQUEST))
    .difference(*(revision.requests for revision in HANDSHAKE))
)
"""Methods that only exist in revisions without a handshake."""

ASSUMED: Final = BY_DATE["2025-03-26"]
"""The revision of an HTTP request with neither a session nor a version header
(basic/transports#protocol-version-header)."""
