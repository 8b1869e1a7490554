"""ASGI's types, and the interface of an endpoint as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol, TypeVar

from .policy import HttpPolicy

AsgiScope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Transmit = Callable[[Message], Awaitable[None]]
"""ASGI's `send`; `Send` in `protocol.scope` sends protocol messages."""

H = TypeVar("H")
S = TypeVar("S")
HostLifespan = Callable[[H], AbstractAsyncContextManager[S]]
"""The lifespan function of a host such as FastAPI or Starlette."""


def path_here(scope: AsgiScope) -> str:
    """The path relative to where the application is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


class Application(Protocol):
    """The type of `Server.asgi`."""

    @property
    def policy(self) -> HttpPolicy: ...

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None: ...

    def start(self) -> Awaitable[None]:
        """Start the server's lifespan and background tasks; await the result before the first request."""

    async def close(self) -> None:
        """End all sessions and streams, so that the HTTP server can stop."""

    def lifespan(self, host: object = None) -> AbstractAsyncContextManager[None]:
        """Start the application on entry and close it on exit, for a host that does not pass lifespan events
        on to what it mounts: `FastAPI(lifespan=app.lifespan)`."""

    def joined(self, host_lifespan: HostLifespan[H, S]) -> HostLifespan[H, S]:
        """The lifespan for a host that has one of its own: `FastAPI(lifespan=app.joined(host_lifespan))`."""


class JoinsHost:
    """Base of applications: the two methods that join the lifespan of a host."""

    def start(self) -> Awaitable[None]:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError

    @asynccontextmanager
    async def lifespan(self, host: object = None) -> AsyncIterator[None]:
        await self.start()
        try:
            yield
        finally:
            await self.close()

    def joined(self, host_lifespan: HostLifespan[H, S]) -> HostLifespan[H, S]:
        @asynccontextmanager
        async def both(host: H) -> AsyncIterator[S]:
            # The application last, and closed first: its handlers may use what the host has set up.
            async with host_lifespan(host) as state, self.lifespan(host):
                yield state

        return both
