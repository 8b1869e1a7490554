"""Records in memory: gone when the process ends."""

from __future__ import annotations

import time
from typing import NamedTuple

from .store import BOUND, Full, Now


class Kept(NamedTuple):
    value: bytes
    expires: float


class MemoryStore:
    def __init__(self, *, bound: int = BOUND, now: Now = time.time) -> None:
        self._bound = bound
        self._now = now
        self._kinds: dict[str, dict[str, Kept]] = {}

    def put(self, kind: str, key: str, value: bytes, expires: float) -> None:
        records = self._kinds.setdefault(kind, {})
        if key not in records and len(records) >= self._bound:
            self._make_room(kind)
        self._kinds[kind][key] = Kept(value, expires)

    def _make_room(self, kind: str) -> None:
        now = self._now()
        alive = {key: kept for key, kept in self._kinds[kind].items() if kept.expires > now}
        self._kinds[kind] = alive
        if len(alive) >= self._bound:
            raise Full(kind)

    def add(self, kind: str, key: str, value: bytes, expires: float) -> bool:
        if self.get(kind, key) is not None:
            return False
        self.put(kind, key, value, expires)
        return True

    def get(self, kind: str, key: str) -> bytes | None:
        kept = self._kinds.get(kind, {}).get(key)
        return None if kept is None or kept.expires <= self._now() else kept.value

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
        return [(key, kept.value) for key, kept in self._kinds.get(kind, {}).items() if kept.expires > now]

    def close(self) -> None:
        self._kinds.clear()
