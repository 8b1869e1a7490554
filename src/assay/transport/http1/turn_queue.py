"""The order in which the connections of a client continue that has used its share of the server's time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable
from typing import Final, Protocol

from assay.protocol.time_share import TimeShares

MOST_WAITING: Final = 16
"""Connections of one client that may wait. Each holds what was read at once, and the server does not notice
meanwhile that it closes."""


class Waiting(Protocol):
    def take_turn(self) -> None:
        """Continue: a new connection begins, or a piece of input is handled."""


class TurnQueues:
    """A queue for each client that has to wait. One timer per client takes the first when its time has come,
    so that each waits for what was handled before it."""

    def __init__(self, shares: TimeShares, loop: asyncio.AbstractEventLoop) -> None:
        self._shares = shares
        self._loop = loop
        self._queues: dict[Hashable, deque[Waiting]] = {}

    def __len__(self) -> int:
        """The number of clients that have to wait."""
        return len(self._queues)

    def must_wait(self, client: Hashable) -> bool:
        return client in self._queues or self._shares.wait_for(client) != 0

    def has_room(self, client: Hashable) -> bool:
        return len(self._queues.get(client, ())) < MOST_WAITING and self._shares.wait_for(client) is not None

    def join(self, client: Hashable, waiting: Waiting) -> bool:
        """Queue up for `take_turn`. False if too many wait already, or it would take too long."""
        if not self.has_room(client):
            return False
        if client in self._queues:
            self._queues[client].append(waiting)
        else:
            self._queues[client] = deque([waiting])
            self._take_next_in(self._shares.wait_for(client), client)
        return True

    def leave(self, client: Hashable, waiting: Waiting) -> None:
        """Give up a place in the queue, if there is one."""
        queue = self._queues.get(client, ())
        if waiting in queue:
            self._queues[client].remove(waiting)

    def _take_next_in(self, seconds: float | None, client: Hashable) -> None:
        wait = self._shares.patience if seconds is None else seconds
        self._loop.call_later(wait, self._take_next, client)

    def _take_next(self, client: Hashable) -> None:
        queue = self._queues[client]
        # Something else may have used the client's time since the timer was set.
        wait = self._shares.wait_for(client) if queue else 0.0
        if queue and wait == 0:
            queue.popleft().take_turn()  # and it may queue up again
            wait = self._shares.wait_for(client) if queue else 0.0
        if queue:
            self._take_next_in(wait, client)
        else:
            del self._queues[client]
