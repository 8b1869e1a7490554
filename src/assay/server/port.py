"""What parts of this package expect of each other without importing each other."""

from __future__ import annotations

from typing import Any, Protocol


class Listener(Protocol):
    """An open stream of changes."""

    @property
    def kinds(self) -> frozenset[str | None]: ...

    @property
    def uris(self) -> frozenset[str | None]: ...

    def tell(self, method: str, params: dict[str, Any], /) -> None: ...

    def end(self) -> None: ...
