"""What every saboteur has, whichever part it plays."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from assay.revisions.revision import Revision

from .transport import HTTP_ONLY, Transport


class Fault(Struct, frozen=True):
    id: str
    fault: str
    breaks: str
    """The requirement that a check must cite to have caught it."""
    transports: frozenset[Transport] = HTTP_ONLY
    window: Callable[[Revision], bool] = lambda revision: True
    scenario: str | None = None
    """Where to look, if not in the scenarios that exercise the checks citing the requirement."""

    @property
    def area(self) -> str:
        return self.id.partition(".")[0]
