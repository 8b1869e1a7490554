"""The part of the event loop's time that one client may use for large input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from time import perf_counter
from typing import Final

from assay.model.limits import Limits

BURST: Final = 0.1
"""Seconds of waiting that are remitted, so that a few large messages do not wait at all."""
MOST_CLIENTS: Final = 1000
"""Clients whose use is stored; above that, those that need not wait are removed."""
MOST_WAITING: Final = 16
"""Connections of one client that may wait with input in memory: while they do, the server does not
notice that they close."""


class TimeShares:
    """The use of the loop's time, for each client. A client that has used its share has to wait until the
    others have had theirs."""

    def __init__(self, limits: Limits, now: Callable[[], float] = perf_counter) -> None:
        self.now = now
        self._share = limits.body_share
        self._patience = limits.body_timeout
        self._free_at: dict[Hashable, float] = {}
        """When the use of each client so far is made up for."""
        self._waiting: Counter[Hashable] = Counter()

    @property
    def unlimited(self) -> bool:
        return self._share >= 1

    def __len__(self) -> int:
        return len(self._free_at)

    def wait_for(self, client: Hashable) -> float | None:
        """Seconds to wait before anything more of a client is handled; none if they are too many."""
        now = self.now()
        wait = self._free_at.get(client, now) - now - BURST
        return None if wait > self._patience else max(0.0, wait)

    def begin_wait(self, client: Hashable) -> bool:
        """Count a connection that waits with input in memory; false if there are too many of them."""
        if self._waiting[client] >= MOST_WAITING:
            return False
        self._waiting[client] += 1
        return True

    def end_wait(self, client: Hashable) -> None:
        self._waiting[client] -= 1
        if not self._waiting[client]:
            del self._waiting[client]

    def charge(self, client: Hashable, seconds: float) -> None:
        """Count time that a client has used, or is about to use."""
        if self.unlimited:
            return
        now = self.now()
        begin = max(now, self._free_at.get(client, now))
        self._free_at[client] = begin + seconds * (1 / self._share - 1)
        if len(self._free_at) > MOST_CLIENTS:
            self._free_at = {key: until for key, until in self._free_at.items() if until > now}
