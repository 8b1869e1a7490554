"""What a server declares and lists: its capabilities, and the pages of one pass over a list, together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from .frame import Frame
from .trace import Exchange, Trace


class Declaration(Struct, frozen=True):
    exchange: Exchange
    capabilities: dict[str, Any]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.exchange.frames

    def has(self, *path: str) -> bool:
        return is_declared(self.capabilities, *path)


def is_declared(capabilities: dict[str, Any], *path: str) -> bool:
    """Whether a capability, or a key inside one, is declared and not false."""
    value: Any = capabilities
    for key in path:
        if not isinstance(value, dict) or value.get(key) in (None, False):
            return False
        value = value[key]
    return True


def declaration(trace: Trace) -> Declaration | None:
    """The first declaration in the trace: a server declares the same to every client."""
    for exchange in trace.exchanges("initialize", "server/discover"):
        capabilities = (exchange.result or {}).get("capabilities")
        if isinstance(capabilities, dict):
            return Declaration(exchange, capabilities)
    return None


class Listing(Struct, frozen=True):
    pages: tuple[Exchange, ...]
    key: str

    @property
    def frames(self) -> tuple[Frame, ...]:
        return tuple(frame for page in self.pages for frame in page.frames)

    @property
    def items(self) -> list[dict[str, Any]]:
        """The listed items that are objects."""
        return [item for page in self.pages for item in page.objects(self.key)]

    @property
    def names(self) -> list[str]:
        return [item["name"] for item in self.items if isinstance(item.get("name"), str)]

    @property
    def connection(self) -> str:
        return self.pages[0].request.frame.connection

    @property
    def complete(self) -> bool:
        """Whether the list was read to its end and every page was a result."""
        results = [page.result for page in self.pages]
        last = results[-1]
        return None not in results and last is not None and last.get("nextCursor") is None


def listings(trace: Trace, method: str, key: str) -> Iterator[Listing]:
    """All passes over a list in the order in which they started, unfinished ones included."""
    passes: list[list[Exchange]] = []
    latest: dict[str, list[Exchange]] = {}
    for exchange in trace.exchanges(method):
        connection = exchange.request.frame.connection
        if "cursor" in exchange.params and connection in latest:
            latest[connection].append(exchange)
        else:
            latest[connection] = [exchange]
            passes.append(latest[connection])
    return (Listing(tuple(pages), key) for pages in passes)
