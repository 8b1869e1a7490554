"""What handlers store for one client between requests: in its session, or else by principal.

Values are stored as JSON, so that reading one returns a copy, a durable store can save them, and their size
is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import msgspec


class ClientState(MutableMapping[str, Any]):
    """The mapping behind `Context.session`: plain JSON values, limited in their total size."""

    def __init__(self, values: dict[str, bytes], limit: int, reserve: Callable[[int], bool]) -> None:
        self._values = values
        self._limit = limit
        self._reserve = reserve
        """Counts a change of the size, or refuses it."""

    def __getitem__(self, key: str) -> Any:
        return msgspec.json.decode(self._values[key])

    def __setitem__(self, key: str, value: Any) -> None:
        """
        Raises:
            TypeError: the value is not plain JSON.
            ValueError: the client's values would exceed `Limits.kept_bytes`, or what all sessions keep would
                exceed `Limits.session_bytes`.
        """
        encoded = msgspec.json.encode(value)
        others = sum(len(name) + len(data) for name, data in self._values.items() if name != key)
        if others + len(key) + len(encoded) > self._limit:
            raise ValueError(f"session data too large: limit {self._limit} bytes per client")
        if not self._reserve(len(key) + len(encoded) - self._size(key)):
            raise ValueError("session data too large: all sessions together keep as much as allowed")
        self._values[key] = encoded

    def __delitem__(self, key: str) -> None:
        size = self._size(key)
        del self._values[key]
        self._reserve(-size)

    def _size(self, key: str) -> int:
        return len(key) + len(self._values[key]) if key in self._values else 0

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
