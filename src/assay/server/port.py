"""What parts of this package expect of each other without importing each other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from assay.protocol.http.asgi import Application

    from .call import Call
    from .server import Server

Serve = Callable[["Call"], Awaitable[Any]]
"""Serves one request: from a call to its result."""


class ListenStream(Protocol):
    """An open stream of changes."""

    @property
    def kinds(self) -> frozenset[str | None]: ...

    @property
    def uris(self) -> frozenset[str | None]: ...

    def tell(self, method: str, params: dict[str, Any], /) -> None: ...

    def end(self) -> None: ...


class AuthProvider(Protocol):
    """Decides who may use a server; `assay.auth.Auth` is one."""

    def protect(self, app: Application, /) -> Application: ...


class Layer(Protocol):
    """Stands around every method of a server: sees each request before it is served, and its result or
    failure after. `Server.use` puts it there; `assay.profile.Profile` is one."""

    def join(self, server: Server, /) -> None:
        """Called once, when it is put around a server."""

    def wrap(self, method: str, serve: Serve, /) -> Serve:
        """What serves a method from now on; made once for each method and revision, not for each request."""

    def publish(self, app: Application, /) -> Application:
        """What stands before the endpoint on HTTP; the application itself where nothing does."""
