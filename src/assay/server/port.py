"""What parts of this package expect of each other without importing each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from assay.protocol.http.asgi import Application


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
