"""What a server says that it can do: in its answer to the handshake, or to `server/discover`."""

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
        at: Any = self.capabilities
        for key in path:
            if not isinstance(at, dict) or at.get(key) in (None, False):
                return False
            at = at[key]
        return True


def declaration(trace: Trace) -> Declaration | None:
    """The first that the trace shows: a server declares the same to everybody who asks."""
    for exchange in trace.exchanges("initialize", "server/discover"):
        capabilities = (exchange.result or {}).get("capabilities")
        if isinstance(capabilities, dict):
            return Declaration(exchange, capabilities)
    return None
