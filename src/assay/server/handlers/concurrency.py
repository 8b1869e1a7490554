"""Limits on how many handlers run at once, with a queue for the rest in which clients take turns."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Hashable
from typing import Final

from assay.model.error import Busy

from .fair_queue import FairQueue

RESERVED_PART: Final = 8
"""One slot in eight is reserved for clients that hold few of these: a client with many slow calls may hold
all others."""
CLIENTS_IN_RESERVE: Final = 4
"""Clients that the reserved slots are enough for if each of them takes as many as it may."""


class Slot:
    """One place of a limit, to be released once. `client` is set if the place is a reserved one."""

    __slots__ = ("client", "limit")

    def __init__(self, limit: ConcurrencyLimit, client: Hashable = None) -> None:
        self.limit = limit
        self.client = client

    def release(self) -> None:
        self.limit.release(self.client)


Turn = tuple[Hashable, "asyncio.Future[Slot]"]


class ConcurrencyLimit:
    """A semaphore with a bounded queue.

    A handler that never suspends cannot overlap with another one, so it only checks `available`. A handler
    that suspends calls `acquire` before others run, and `release` when it ends. Both cost next to nothing:
    clients are distinguished only when the limit is nearly reached.
    """

    __slots__ = (
        "_backlog",
        "_in_reserve",
        "_queue",
        "_running",
        "_share",
        "_size",
        "_unreserved",
        "available",
    )

    def __init__(self, size: int, backlog: int) -> None:
        reserve = size // RESERVED_PART
        self._size = size
        self._unreserved = size - reserve
        self._share = max(1, reserve // CLIENTS_IN_RESERVE)
        self._backlog = backlog
        self._running = 0
        self._in_reserve: Counter[Hashable] = Counter()
        self._queue: FairQueue[Turn] = FairQueue()
        self.available = True
        """Stored instead of computed: every call reads it, few change it."""

    def acquire(self) -> None:
        self._running += 1
        self.available = self._running < self._unreserved

    async def wait_and_acquire(self, client: Hashable) -> Slot:
        """Acquire the limit when it is the client's turn.

        Raises:
            Busy: the queue is full, and others wait for less than this client.
        """
        if self.available:
            self.acquire()
            return Slot(self)
        if self._running < self._size and self._may_use_reserve(client):
            return self._acquire_reserved(client)
        if len(self._queue) >= self._backlog:
            self._make_room(client)
        turn: Turn = client, asyncio.get_running_loop().create_future()
        self._queue.put(client, turn)
        try:
            return await turn[1]
        except asyncio.CancelledError:
            if not self._queue.discard(client, turn) and _is_handed_over(turn):
                turn[1].result().release()  # pass it on
            raise

    def release(self, client: Hashable = None) -> None:
        """Hand over to the next in the queue, so that no later arrival can overtake it."""
        if client is not None:
            self._in_reserve[client] -= 1
            if not self._in_reserve[client]:
                del self._in_reserve[client]
        self._running -= 1
        self._hand_over()
        self.available = self._running < self._unreserved

    def _hand_over(self) -> None:
        while self._queue and self._running < self._size:
            reserved = self._running >= self._unreserved
            turn = self._queue.take(self._may_use_reserve if reserved else None)
            if turn is None:
                return
            client, future = turn
            if future.done():
                continue
            if reserved:
                future.set_result(self._acquire_reserved(client))
            else:
                self.acquire()
                future.set_result(Slot(self))

    def _may_use_reserve(self, client: Hashable) -> bool:
        return self._in_reserve[client] < self._share

    def _acquire_reserved(self, client: Hashable) -> Slot:
        self._in_reserve[client] += 1
        self.acquire()
        return Slot(self, client)

    def _make_room(self, client: Hashable) -> None:
        """Refuse the last arrival of the client with the most, which may be this one."""
        busy = Busy(f"server is busy: {self._running} running, {len(self._queue)} waiting")
        if self._queue.length_of(client) + 1 >= self._queue.longest():
            raise busy
        _, future = self._queue.take_newest_of_longest()
        if not future.done():
            future.set_exception(busy)


def _is_handed_over(turn: Turn) -> bool:
    future = turn[1]
    return future.done() and not future.cancelled() and future.exception() is None
