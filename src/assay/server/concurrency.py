"""How many handlers run at once. Whoever comes when all places are taken waits in line."""

from __future__ import annotations

import asyncio
from collections import deque

from assay.model.error import INTERNAL_ERROR, RpcError


class ConcurrencyLimit:
    """A counter with a line in front of it.

    A handler that never suspends overlaps with nothing, so it only needs `is_open`; one that
    does suspend takes a place with `acquire` before it lets others run.
    """

    __slots__ = ("_backlog", "_queue", "_running", "_size", "available")

    def __init__(self, size: int, backlog: int) -> None:
        self._size = size
        self._backlog = backlog
        self._running = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self.available = True
        """Kept, not computed: every call looks at it, few change it."""

    def acquire(self) -> None:
        self._running += 1
        self.available = self._running < self._size

    async def wait_and_acquire(self) -> None:
        """Take a place, in order of arrival.

        Raises:
            RpcError: the line is full.
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
                self._queue.remove(turn)  # whoever gave up does not count as waiting
            elif turn.done() and not turn.cancelled():
                self.release()  # the place was already handed over
            raise
        return None

    def release(self) -> None:
        """Give the place to the next in line, so that nobody who comes later can take it first."""
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                return turn.set_result(None)
        self._running -= 1
        self.available = True
        return None
