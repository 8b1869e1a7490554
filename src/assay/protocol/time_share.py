"""The part of the event loop's time that one client may use for large input and new connections."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import inf
from typing import Final

from assay.model.limits import Limits

BURST: Final = 0.1
"""Seconds of waiting that are remitted, so that a few large messages do not wait at all."""
MOST_CLIENTS: Final = 1000
"""Clients whose use is stored; above that, those that need not wait are removed."""


class TimeShares:
    """The use of the loop's time, for each client. A client that has used its share has to wait until the
    others have had theirs."""

    def __init__(self, limits: Limits, now: Callable[[], float]) -> None:
        self.now = now
        self._share = limits.body_share
        self.patience = limits.body_timeout
        """The longest wait, in seconds."""
        self._free_at: dict[Hashable, float] = {}
        """When the use of each client so far is made up for."""
        self._most_clients = MOST_CLIENTS

    @property
    def unlimited(self) -> bool:
        return self._share >= 1

    def __len__(self) -> int:
        return len(self._free_at)

    def wait_for(self, client: Hashable) -> float | None:
        """Seconds to wait before anything more of a client is handled; none if they are too many."""
        now = self.now()
        wait = self._free_at.get(client, now) - now - BURST
        return None if wait > self.patience else max(0.0, wait)

    def charge(self, client: Hashable, seconds: float) -> None:
        """Count time that a client has used, or is about to use."""
        if self.unlimited:
            return
        began = self.now() - seconds
        self._free_at[client] = max(began, self._free_at.get(client, -inf)) + seconds / self._share
        if len(self._free_at) > self._most_clients:
            self._forget()

    def _forget(self) -> None:
        now = self.now()
        self._free_at = {client: until for client, until in self._free_at.items() if until > now}
        # So that many clients that have to wait are not looked through at each charge.
        self._most_clients = max(MOST_CLIENTS, 2 * len(self._free_at))
