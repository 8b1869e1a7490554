"""ASGI's types, and the interface of an endpoint as an ASGI application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

from .policy import HttpPolicy

AsgiScope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Transmit = Callable[[Message], Awaitable[None]]
"""ASGI's `send`; `Send` in `protocol.scope` sends protocol messages."""


class Application(Protocol):
    """The type of `Server.asgi`."""

    @property
    def policy(self) -> HttpPolicy: ...

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None: ...

    def start(self) -> None:
        """Start background work; call this before the first request."""

    async def close(self) -> None:
        """End all sessions and streams, so that the HTTP server can stop."""
