"""How many handlers run at once. Whoever comes when all places are taken waits in line."""

from __future__ import annotations

import asyncio
from collections import deque

from assay.model.error import INTERNAL_ERROR, RpcError


class Gate:
    """A counter with a line in front of it.

    A handler that never suspends overlaps with nothing, so it only needs `is_open`; one that
    does suspend takes a place with `enter` before it lets others run.
    """

    __slots__ = ("_backlog", "_line", "_places", "_taken", "is_open")

    def __init__(self, places: int, backlog: int) -> None:
        self._places = places
        self._backlog = backlog
        self._taken = 0
        self._line: deque[asyncio.Future[None]] = deque()
        self.is_open = True
        """Kept, not computed: every call looks at it, few change it."""

    def enter(self) -> None:
        self._taken += 1
        self.is_open = self._taken < self._places

    async def wait_and_enter(self) -> None:
        """Take a place, in order of arrival.

        Raises:
            RpcError: the line is full.
        """
        if self.is_open:
            return self.enter()
        if len(self._line) >= self._backlog:
            raise RpcError(
                INTERNAL_ERROR, f"server is busy: {self._taken} running, {len(self._line)} waiting"
            )
        turn = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn in self._line:
                self._line.remove(turn)  # whoever gave up does not count as waiting
            elif turn.done() and not turn.cancelled():
                self.leave()  # the place was already handed over
            raise
        return None

    def leave(self) -> None:
        """Give the place to the next in line, so that nobody who comes later can take it first."""
        while self._line:
            turn = self._line.popleft()
            if not turn.done():
                return turn.set_result(None)
        self._taken -= 1
        self.is_open = True
        return None
