"""Capabilities that a server declares in its reply to `initialize` or `server/discover`."""

from __future__ import annotations

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
        """Whether a capability, or a key inside one, is declared and not false."""
        value: Any = self.capabilities
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
