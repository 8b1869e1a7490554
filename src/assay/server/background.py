"""Background tasks that run as long as a server serves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from assay.model.error import RegistrationError
from assay.server.dispatch.failure import log_failure
from assay.server.handlers.invocation import is_async

Work = Callable[[], Awaitable[Any]]


class Background:
    """Coroutine functions, started when serving starts and cancelled when it ends."""

    def __init__(self) -> None:
        self._functions: list[Work] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, function: Work) -> None:
        """
        Raises:
            RegistrationError: it is not a coroutine function.
        """
        if not is_async(function):
            name = getattr(function, "__name__", repr(function))
            raise RegistrationError(f"background work {name} is not a coroutine function: write async def")
        self._functions.append(function)

    def start(self) -> None:
        """Start the tasks, unless they already run in this event loop."""
        if not self._functions or self._loop is (loop := asyncio.get_running_loop()):
            return
        self._loop = loop
        self._tasks = [loop.create_task(_run(function)) for function in self._functions]

    async def stop(self) -> None:
        """Cancel the tasks and wait for their end. Idempotent."""
        tasks, self._tasks, self._loop = self._tasks, [], None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run(function: Work) -> None:
    try:
        await function()
    except Exception as error:
        # A failed task must not stop the server: requests are still served.
        log_failure(f"background work {getattr(function, '__qualname__', function)}", error)
