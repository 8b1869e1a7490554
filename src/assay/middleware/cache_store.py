"""Cached results as JSON, bounded in number and bytes. The one that was not used for longest goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Final

from msgspec import Struct

from assay.model.result import Cache

OVERHEAD: Final = 512
"""Bytes that an entry takes besides its contents, roughly."""


class Entry(Struct, frozen=True):
    data: bytes
    expires: float
    hint: Cache
    size: int


class CacheStore:
    """Thread-safe: changes of resources may be reported from any thread."""

    def __init__(self, entries: int, max_bytes: int) -> None:
        self._most = entries
        self._max_bytes = max_bytes
        self._entries: OrderedDict[Hashable, Entry] = OrderedDict()
        self._lock = Lock()
        self.bytes = 0
        self.generation = 0
        """Changes with every removal: a result that was computed before is not stored after it."""

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, now: float) -> Entry | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            if entry.expires <= now:
                self._drop(key)
                return None
            self._entries.move_to_end(key)
            return entry

    def put(self, key: Hashable, entry: Entry, generation: int) -> None:
        with self._lock:
            if generation != self.generation or entry.size > self._max_bytes:
                return
            self._drop(key)
            self._entries[key] = entry
            self.bytes += entry.size
            while len(self._entries) > self._most or self.bytes > self._max_bytes:
                self._drop(next(iter(self._entries)))

    def remove(self, is_outdated: Callable[[Hashable], bool]) -> None:
        with self._lock:
            self.generation += 1
            for key in [key for key in self._entries if is_outdated(key)]:
                self._drop(key)

    def _drop(self, key: Hashable) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.bytes -= entry.size
