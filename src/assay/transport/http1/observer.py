"""What the access log and the metrics get of each request. A server without them runs none of this."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from assay.protocol.http.asgi import AsgiScope

if TYPE_CHECKING:
    from .server_state import ServerState


class Answered(NamedTuple):
    """A request that was answered, or a connection that was refused."""

    scope: AsgiScope
    """As for the application. That of input which is no request has no method."""
    status: int
    sent: int
    """Bytes of the body."""
    seconds: float
    """From its complete head to the last byte of the answer."""


Observer = Callable[[Answered], None]
"""It must neither block nor raise."""


class Observation:
    """The observers of a server, and what they may ask it."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers
        self.server: ServerState | None = None

    @property
    def connections(self) -> int:
        """Open connections."""
        return 0 if self.server is None else self.server.connection_count

    def report(self, scope: AsgiScope, status: int, sent: int, began: float | None = None) -> None:
        seconds = 0.0 if began is None else perf_counter() - began
        answered = Answered(scope, status, sent, seconds)
        for observe in self._observers:
            observe(answered)
