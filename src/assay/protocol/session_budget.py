"""The bytes that all sessions of a server keep together."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext


class SessionBudget:
    __slots__ = ("limit", "lock", "used")

    def __init__(self, limit: int, lock: AbstractContextManager[object] | None = None) -> None:
        self.limit = limit
        self.used = 0
        self.lock = nullcontext() if lock is None else lock
        """Held while `used` changes: handlers in threads store data, too."""

    def has_room(self, size: int) -> bool:
        return self.used + size <= self.limit
