"""Who may use something at once: many who only look on, or one who changes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Access:
    """For scenarios that are played at the same time on the same subject."""

    def __init__(self) -> None:
        self._turn = asyncio.Condition()
        self._lookers = 0
        self._waiting = 0
        self._taken = False

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        """With others who look on; whoever waits to be alone goes first."""
        async with self._turn:
            await self._turn.wait_for(lambda: not self._taken and not self._waiting)
            self._lookers += 1
        try:
            yield
        finally:
            async with self._turn:
                self._lookers -= 1
                self._turn.notify_all()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        async with self._turn:
            await self._free()
            self._taken = True
        try:
            yield
        finally:
            async with self._turn:
                self._taken = False
                self._turn.notify_all()

    async def _free(self) -> None:
        self._waiting += 1
        try:
            await self._turn.wait_for(lambda: not self._taken and not self._lookers)
        finally:
            self._waiting -= 1
            self._turn.notify_all()
