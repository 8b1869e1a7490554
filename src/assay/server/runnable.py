"""A server, as far as it takes to run one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from assay.protocol.http.asgi import Application
from assay.protocol.middleware import Middleware
from assay.protocol.seal import Sealer
from assay.transport.port import Endpoint

Once = Callable[[bytes, float], Awaitable[bool]]
"""Notes a key until a time in seconds since the epoch; false if it has been noted before."""


class AuthProvider(Protocol):
    """Protects a server's HTTP application; `assay.auth.Auth` is one."""

    def protect(self, app: Application, /, once: Once | None = None) -> Application: ...


class Runnable(Endpoint, Protocol):
    @property
    def middlewares(self) -> tuple[Middleware, ...]: ...

    @property
    def sealer(self) -> Sealer: ...

    def use_store(self, store: str) -> None: ...

    @property
    def auth(self) -> AuthProvider | None: ...
