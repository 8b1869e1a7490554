"""Work that goes on while a server serves, beside its requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from .failure import log_failure

Work = Callable[[], Awaitable[Any]]


class Background:
    """Coroutine functions, begun when serving begins and cancelled when it ends."""

    def __init__(self) -> None:
        self._functions: list[Work] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, function: Work) -> None:
        self._functions.append(function)

    def start(self) -> None:
        """Begin, unless that has happened in this event loop already."""
        if not self._functions or self._loop is (loop := asyncio.get_running_loop()):
            return
        self._loop = loop
        self._tasks = [loop.create_task(_run(function)) for function in self._functions]

    async def stop(self) -> None:
        """Cancel what runs, and wait for its end. Stopping twice is harmless."""
        tasks, self._tasks, self._loop = self._tasks, [], None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run(function: Work) -> None:
    try:
        await function()
    except Exception as error:
        # The requests that are served meanwhile are not to blame, and go on.
        log_failure(f"background work {getattr(function, '__qualname__', function)}", error)
