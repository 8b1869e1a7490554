"""A readers-writer lock: many observers at once, or one scenario that changes the subject."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Access:
    """For scenarios that run concurrently against the same subject."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._sharing = 0
        self._waiting = 0
        self._exclusive = False

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """Shared access. Waiting exclusive users go first."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._exclusive and not self._waiting)
            self._sharing += 1
        try:
            yield
        finally:
            async with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Exclusive access."""
        async with self._changed:
            await self._wait_until_free()
            self._exclusive = True
        try:
            yield
        finally:
            async with self._changed:
                self._exclusive = False
                self._changed.notify_all()

    async def _wait_until_free(self) -> None:
        self._waiting += 1
        try:
            await self._changed.wait_for(lambda: not self._exclusive and not self._sharing)
        finally:
            self._waiting -= 1
            self._changed.notify_all()
