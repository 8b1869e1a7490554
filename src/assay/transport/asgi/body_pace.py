"""Divides the time of the event loop between large bodies and everything else.

A body of 4 MiB costs some 15 ms to receive and to decode, and a client can send one after the other. While
it does, small requests of others would wait behind each of them. A client that has used its share of the
loop's time for large bodies therefore waits before the next one is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from time import perf_counter
from typing import Any, Final

from assay.model.limits import Limits
from assay.protocol.http.busy import unavailable
from assay.protocol.http.head_policy import Refusal

from .body import closing

LARGE: Final = 64 * 1024
"""Bytes. Smaller bodies cost hardly more than the request itself."""
SECONDS_PER_BYTE: Final = 4e-9
"""To receive a body and to look at it. What decoding takes beyond that is measured."""
BURST: Final = 0.1
"""Seconds of waiting that are remitted, so that a few large bodies do not wait at all."""
MOST_CLIENTS: Final = 1000
"""Clients whose use is stored; above that, those that need not wait are removed."""
TOO_MANY: Final = closing(unavailable("too many large bodies"))


class BodyPace:
    """The use of the loop's time by large bodies, for each client."""

    def __init__(self, limits: Limits, now: Callable[[], float] = perf_counter) -> None:
        self._limits = limits
        self._now = now
        self._free_at: dict[Hashable, float] = {}
        """When the use of each client so far is made up for."""

    async def read(
        self,
        reading: Coroutine[Any, Any, bytes | Refusal],
        declared: bytes,
        client_of: Callable[[], Hashable],
    ) -> bytes | Refusal:
        """Read a body, a large one when it is the client's turn.

        Args:
            reading: Reads the body.
            declared: Its length by the header; empty if that is unknown.
            client_of: Returns the client.
        """
        most = self._limits.message_bytes
        size = int(declared) if declared.isdigit() and len(declared) < 20 else most
        if self._limits.body_share >= 1 or not LARGE < size <= most:
            return await reading
        client = client_of()
        if not await self._turn(client, size):
            reading.close()
            return TOO_MANY
        body = await reading
        self._charge_later(client, size)
        return body

    async def wait(self, client: Hashable, size: int) -> bool:
        """Wait for a client's turn with a message that has arrived, a large one; false if there are too many
        before it."""
        if self._limits.body_share >= 1 or size <= LARGE:
            return True
        if not await self._turn(client, size):
            return False
        self._charge_later(client, size)
        return True

    async def _turn(self, client: Hashable, size: int) -> bool:
        wait = self.reserve(client, size)
        if wait:
            await asyncio.sleep(wait)
        return wait is not None

    def _charge_later(self, client: Hashable, size: int) -> None:
        """The caller decodes the body in this step of the loop. What is called soon runs after it."""
        asyncio.get_running_loop().call_soon(self.charge, client, size, self._now())

    def reserve(self, client: Hashable, size: int) -> float | None:
        """Seconds to wait before a body of this size is read; none if they are too many."""
        now = self._now()
        free_at = max(now, self._free_at.get(client, now))
        wait = free_at - now - BURST
        if wait > self._limits.body_timeout:
            return None
        self._add(client, free_at, size * SECONDS_PER_BYTE)
        return max(0.0, wait)

    def charge(self, client: Hashable, size: int, began: float) -> None:
        """Count what a step took beyond the estimate."""
        now = self._now()
        more = now - began - size * SECONDS_PER_BYTE
        if more > 0:
            self._add(client, max(now, self._free_at.get(client, now)), more)

    def _add(self, client: Hashable, free_at: float, seconds: float) -> None:
        self._free_at[client] = free_at + seconds * (1 / self._limits.body_share - 1)
        if len(self._free_at) > MOST_CLIENTS:
            now = self._now()
            self._free_at = {key: until for key, until in self._free_at.items() if until > now}
