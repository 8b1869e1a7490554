"""Evidence besides the messages of a subject: files, spans and its registry entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from msgspec import Struct

from .access import Access

DISK: Final = "disk"
SPANS: Final = "spans"
REGISTRY: Final = "registry"


class Disk(Protocol):
    """Directories that the subject may write to; implemented in `disk.py`."""

    access: Access
    """Tools that write run with exclusive access, so that each change can be attributed to a call."""

    def state(self) -> dict[str, str]:
        """Files by path, each with a fingerprint of its content."""


class Spans(Protocol):
    """Spans that the subject exports; implemented in `otlp.py`."""

    async def of_trace(self, trace_id: str, patience: float, count: int = 1) -> list[dict[str, Any]]:
        """The spans of a trace as OTLP/JSON; waits up to `patience` seconds for `count` of them."""

    def all(self) -> list[dict[str, Any]]:
        """All spans received, of any trace."""


class OutOfBand(Struct, frozen=True):
    disk: Disk | None = None
    spans: Spans | None = None
    registry: Mapping[str, Any] | None = None
    """The registry entry: `server.json`."""

    @property
    def kinds(self) -> list[str]:
        """The kinds of evidence that are available."""
        sources = {DISK: self.disk, SPANS: self.spans, REGISTRY: self.registry}
        return [kind for kind, source in sources.items() if source is not None]
