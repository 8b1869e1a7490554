"""What is remembered for a while, and never more of it than a bound."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

V = TypeVar("V")


class Bounded(Generic[V]):
    """Values by key until their time is over; of too many, the one goes that was used least recently."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, tuple[float, V]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: bytes, now: float) -> V | None:
        found = self._kept.get(key)
        if found is None:
            return None
        until, value = found
        if now >= until:
            del self._kept[key]
            return None
        self._kept.move_to_end(key)
        return value

    def put(self, key: bytes, value: V, until: float) -> None:
        self._kept[key] = (until, value)
        self._kept.move_to_end(key)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def clear(self) -> None:
        self._kept.clear()
