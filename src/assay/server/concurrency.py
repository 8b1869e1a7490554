"""Limits on how many handlers run at once, with a queue for the rest."""

from __future__ import annotations

import asyncio
from collections import deque

from assay.model.error import INTERNAL_ERROR, RpcError


class ConcurrencyLimit:
    """A semaphore with a bounded, first-in first-out queue.

    A handler that never suspends cannot overlap with another one, so it only checks `available`. A handler
    that suspends calls `acquire` before others run, and `release` when it ends.
    """

    __slots__ = ("_backlog", "_queue", "_running", "_size", "available")

    def __init__(self, size: int, backlog: int) -> None:
        self._size = size
        self._backlog = backlog
        self._running = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self.available = True
        """Stored instead of computed: every call reads it, few change it."""

    def acquire(self) -> None:
        self._running += 1
        self.available = self._running < self._size

    async def wait_and_acquire(self) -> None:
        """Acquire the limit in order of arrival.

        Raises:
            RpcError: the queue is full.
        """
        if self.available:
            return self.acquire()
        if len(self._queue) >= self._backlog:
            raise RpcError(
                INTERNAL_ERROR, f"server is busy: {self._running} running, {len(self._queue)} waiting"
            )
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn in self._queue:
                self._queue.remove(turn)
            elif turn.done() and not turn.cancelled():
                self.release()  # the slot was already handed over: pass it on
            raise
        return None

    def release(self) -> None:
        """Hand over to the first in the queue, so that no later arrival can overtake it."""
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                return turn.set_result(None)
        self._running -= 1
        self.available = True
        return None
