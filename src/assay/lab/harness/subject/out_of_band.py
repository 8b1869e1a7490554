"""What of a subject can be seen beside its messages, and what was said of it in advance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from msgspec import Struct

from .access import Access

DISK: Final = "disk"
SPANS: Final = "spans"
REGISTRY: Final = "registry"


class Disk(Protocol):
    """Directories that the subject may write to; `disk.py` looks at them."""

    access: Access
    """Who calls tools that write is alone: whatever changes meanwhile is the doing of that call."""

    def state(self) -> dict[str, str]:
        """Every file below them by its path, with what tells it from any other content."""


class Spans(Protocol):
    """Where the subject sends its spans; `otlp.py` receives them."""

    async def of(self, trace_id: str, patience: float, count: int = 1) -> list[dict[str, Any]]:
        """The spans of a trace as OTLP/JSON, as soon as there are that many; fewer when patience ends."""

    def every(self) -> list[dict[str, Any]]:
        """All that came, of whatever trace."""


class OutOfBand(Struct, frozen=True):
    disk: Disk | None = None
    spans: Spans | None = None
    registry: Mapping[str, Any] | None = None
    """Its entry in a registry: `server.json`."""

    @property
    def kinds(self) -> list[str]:
        """What of this is there."""
        there = {DISK: self.disk, SPANS: self.spans, REGISTRY: self.registry}
        return [kind for kind, found in there.items() if found is not None]
