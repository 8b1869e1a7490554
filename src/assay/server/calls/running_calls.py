"""The calls that wait for something, so that a server which stops can wait for them."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from assay.model.error import STOPPING
from assay.protocol.session import Running

ANSWER_TIMEOUT: Final = 1.0
"""Seconds that calls have to end once they are interrupted, and then the tasks that serve them to send the
answers."""


class RunningCalls:
    """Calls in progress, and the tasks that serve them. A call that never suspends is not among them: no
    other code runs while it does."""

    def __init__(self) -> None:
        self._tasks: dict[Running, asyncio.Task[Any]] = {}
        self._waiting: set[asyncio.Event] = set()
        """Events to set when no call is left: an event belongs to one event loop, a server to any number."""

    def add(self, call: Running, task: asyncio.Task[Any]) -> None:
        self._tasks[call] = task

    def remove(self, call: Running) -> None:
        self._tasks.pop(call, None)
        if self._waiting and not self._tasks:
            for empty in self._waiting:
                empty.set()

    async def drain(self, patience: float) -> None:
        """Wait up to `patience` seconds for all calls; then end the others, which answers them with an
        error."""
        # A handler may be what stops the server: it cannot wait for itself.
        tasks = {*self._tasks.values()} - {asyncio.current_task()}
        await self._wait(patience)
        for call in list(self._tasks):
            call.interrupt(STOPPING)
        await self._wait(ANSWER_TIMEOUT)
        if tasks:
            await asyncio.wait(tasks, timeout=ANSWER_TIMEOUT)

    async def _wait(self, patience: float) -> None:
        if not self._tasks:
            return
        empty = asyncio.Event()
        self._waiting.add(empty)
        try:
            async with asyncio.timeout(patience):
                await empty.wait()
        except TimeoutError:
            pass
        finally:
            self._waiting.discard(empty)
