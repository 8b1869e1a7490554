"""Records in memory, which do not outlive the process."""

from __future__ import annotations

import time
from typing import NamedTuple

from .store import BOUND, Full, Now


class Entry(NamedTuple):
    value: bytes
    expires: float


class MemoryStore:
    def __init__(self, *, bound: int = BOUND, now: Now = time.time) -> None:
        self._bound = bound
        self._now = now
        self._kinds: dict[str, dict[str, Entry]] = {}

    def put(self, kind: str, key: str, value: bytes, expires: float) -> None:
        records = self._kinds.setdefault(kind, {})
        if key not in records and len(records) >= self._bound:
            self._make_room(kind)
        self._kinds[kind][key] = Entry(value, expires)

    def _make_room(self, kind: str) -> None:
        now = self._now()
        alive = {key: entry for key, entry in self._kinds[kind].items() if entry.expires > now}
        self._kinds[kind] = alive
        if len(alive) >= self._bound:
            raise Full(kind)

    def add(self, kind: str, key: str, value: bytes, expires: float) -> bool:
        if self.get(kind, key) is not None:
            return False
        self.put(kind, key, value, expires)
        return True

    def get(self, kind: str, key: str) -> bytes | None:
        entry = self._kinds.get(kind, {}).get(key)
        return None if entry is None or entry.expires <= self._now() else entry.value

    def swap(self, kind: str, key: str, old: bytes, new: bytes) -> bool:
        if self.get(kind, key) != old:
            return False
        records = self._kinds[kind]
        records[key] = records[key]._replace(value=new)
        return True

    def drop(self, kind: str, key: str) -> None:
        self._kinds.get(kind, {}).pop(key, None)

    def all(self, kind: str) -> list[tuple[str, bytes]]:
        now = self._now()
        return [(key, entry.value) for key, entry in self._kinds.get(kind, {}).items() if entry.expires > now]

    def close(self) -> None:
        self._kinds.clear()
