"""Where tokens and registrations are stored: a port, and storage in memory."""

from __future__ import annotations

from typing import Protocol


class TokenStorage(Protocol):
    """Stores secret texts by key. A key is a text of any form, such as a URL."""

    async def load(self, key: str) -> str | None: ...

    async def save(self, key: str, value: str) -> None: ...

    async def delete(self, key: str) -> None:
        """Forget a text. Idempotent."""
        ...


class MemoryStorage:
    """Tokens until this process ends."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    async def load(self, key: str) -> str | None:
        return self._values.get(key)

    async def save(self, key: str, value: str) -> None:
        self._values[key] = value

    async def delete(self, key: str) -> None:
        self._values.pop(key, None)
