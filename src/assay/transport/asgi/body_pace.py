"""Divides the time of the event loop between large bodies and everything else.

A body of 4 MiB costs some 15 ms to receive and to decode, and a client can send one after the other. While
it does, small requests of others would wait behind each of them. A client that has used its share of the
loop's time for large bodies therefore waits before the next one is read.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Final

from assay.model.limits import Limits
from assay.protocol.http.busy import unavailable
from assay.protocol.http.head_policy import Refusal
from assay.protocol.time_share import TimeShares

from .body import closing

LARGE: Final = 64 * 1024
"""Bytes. Smaller bodies cost hardly more than the request itself."""
SECONDS_PER_BYTE: Final = 4e-9
"""To receive a body and to look at it. What decoding takes beyond that is measured."""
MOST_WAITING: Final = 16
"""WebSocket connections of one client that may wait with a message in memory: while they do, the server does
not notice that they close."""
TOO_MANY: Final = closing(unavailable("too many large bodies"))


class BodyPace:
    """Lets large bodies wait for their client's share of the loop's time."""

    def __init__(self, limits: Limits, shares: TimeShares) -> None:
        self._most = limits.message_bytes
        self._shares = shares
        self._waiting: Counter[Hashable] = Counter()

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
        size = int(declared) if declared.isdigit() and len(declared) < 20 else self._most
        if self._shares.unlimited or not LARGE < size <= self._most:
            return await reading
        client = client_of()
        is_turn = False
        try:
            is_turn = await self._turn(client, size)
        finally:
            if not is_turn:
                reading.close()  # also if the client has gone: a coroutine that is never awaited is reported
        if not is_turn:
            return TOO_MANY
        body = await reading
        self._charge_later(client, size)
        return body

    async def wait(self, client: Hashable, size: int) -> bool:
        """Wait for a client's turn with a message that has arrived, a large one; false if there are too many
        before it."""
        if self._shares.unlimited or size <= LARGE:
            return True
        if self._waiting[client] >= MOST_WAITING:
            return False
        self._waiting[client] += 1
        try:
            if not await self._turn(client, size):
                return False
        finally:
            self._end_wait(client)
        self._charge_later(client, size)
        return True

    def _end_wait(self, client: Hashable) -> None:
        self._waiting[client] -= 1
        if not self._waiting[client]:
            del self._waiting[client]

    async def _turn(self, client: Hashable, size: int) -> bool:
        wait = self._shares.wait_for(client)
        if wait is None:
            return False
        self._shares.charge(client, size * SECONDS_PER_BYTE)
        if wait:
            await asyncio.sleep(wait)
        return True

    def _charge_later(self, client: Hashable, size: int) -> None:
        """The caller decodes the body in this step of the loop. What is called soon runs after it."""
        asyncio.get_running_loop().call_soon(self._charge_rest, client, size, self._shares.now())

    def _charge_rest(self, client: Hashable, size: int, began: float) -> None:
        """Count what the step took beyond the estimate."""
        rest = self._shares.now() - began - size * SECONDS_PER_BYTE
        if rest > 0:
            self._shares.charge(client, rest)
