"""The types that ASGI is made of, and an endpoint as an application of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

from .policy import HttpPolicy

AsgiScope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Transmit = Callable[[Message], Awaitable[None]]
"""ASGI's `send`; named apart from the `Send` that carries protocol messages."""


class Application(Protocol):
    """What `Server.asgi` returns."""

    @property
    def policy(self) -> HttpPolicy: ...

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None: ...

    def start(self) -> None:
        """Begin what goes on beside the requests, before the first of them."""

    async def close(self) -> None:
        """End all sessions and streams, so that the HTTP server can stop."""
