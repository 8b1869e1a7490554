"""A bounded cache whose entries expire."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

V = TypeVar("V")


class ExpiringCache(Generic[V]):
    """Values by key, each with an end; when full, the least recently used entry is dropped."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[bytes, tuple[float, V]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: bytes, now: float) -> V | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        until, value = entry
        if now >= until:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return value

    def put(self, key: bytes, value: V, until: float) -> None:
        self._entries[key] = (until, value)
        self._entries.move_to_end(key)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        self._entries.clear()
