"""The bytes that a server holds for its clients: messages that arrive or are served, and unread answers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Self

from assay.model.limits import Limits

FREE_BYTES: Final = 16 * 1024
"""What each holder may have without being counted: nearly all messages are smaller, and cost nothing here."""


class ByteBudget:
    """A limit that all clients share.

    A client may hold as much as remains free. So one client gets up to a half, two get a third each, and
    each newcomer gets up to half of the rest.
    """

    __slots__ = ("_clients", "limit", "used")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._clients: dict[Hashable, int] = {}

    @classmethod
    def of(cls, limits: Limits) -> Self:
        # With less, not even a lone client could send the largest message.
        return cls(max(limits.inflight_bytes, 2 * limits.message_bytes))

    def share(self, client: Hashable) -> ByteShare:
        """What one holder, such as a connection or a request, takes of the budget; nothing at first."""
        return ByteShare(self, client)

    def has_room(self, client: Hashable, size: int) -> bool:
        return self._clients.get(client, 0) + size <= self.limit - self.used - size

    def change(self, client: Hashable, size: int) -> None:
        """Count so many more bytes for a client, or fewer if negative."""
        self.used += size
        held = self._clients.pop(client, 0) + size
        if held:
            self._clients[client] = held


class ByteShare:
    __slots__ = ("_budget", "_client", "size")

    def __init__(self, budget: ByteBudget, client: Hashable) -> None:
        self._budget = budget
        self._client = client
        self.size = 0
        """Bytes counted at present."""

    def resize(self, size: int) -> bool:
        """Hold so many bytes from now on. Returns False, and changes nothing, if they do not fit."""
        counted = size if size > FREE_BYTES else 0
        growth = counted - self.size
        if growth > 0 and not self._budget.has_room(self._client, growth):
            return False
        self._budget.change(self._client, growth)
        self.size = counted
        return True

    def release(self) -> None:
        """Give everything back. Idempotent."""
        self.resize(0)
