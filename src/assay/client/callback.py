"""Calls the user's callbacks for notifications: in order, one at a time, without an end of their exceptions
in the transport."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

from .log import client_logger

WAITING_BYTES: Final = 1024 * 1024
"""Size of the notifications that wait, as they arrived. The first one may be larger."""

Callback = Callable[[Any], Awaitable[None] | None]


class CallbackQueue:
    """Plain functions are called at once. While a coroutine function runs, further calls wait behind it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: deque[tuple[Callback, Any, int]] = deque()
        self._bytes = 0
        self._task: asyncio.Task[None] | None = None
        self._dropped = False

    def post(self, callback: Callback, notice: Any, size: int = 0) -> None:
        if self._task is not None:
            self._hold(callback, notice, size)
            return
        try:
            pending = callback(notice)
        except Exception:
            client_logger().exception("a callback of the client failed")
            return
        if inspect.isawaitable(pending):
            self._task = asyncio.get_running_loop().create_task(self._work(pending))

    def _hold(self, callback: Callback, notice: Any, size: int) -> None:
        has_room = not self._waiting or self._bytes + size <= WAITING_BYTES
        if len(self._waiting) < self._limit and has_room:
            self._bytes += size
            self._waiting.append((callback, notice, size))
        elif not self._dropped:
            self._dropped = True
            client_logger().warning("a callback is slower than the server: notifications are dropped")

    async def _work(self, pending: Awaitable[None]) -> None:
        try:
            await _finish(pending)
            while self._waiting:
                callback, notice, size = self._waiting.popleft()
                self._bytes -= size
                try:
                    following = callback(notice)
                except Exception:
                    client_logger().exception("a callback of the client failed")
                    continue
                if inspect.isawaitable(following):
                    await _finish(following)
        finally:
            self._task = None

    async def flush(self) -> None:
        """Wait until everything posted so far was delivered. Not from a callback, which would wait for
        itself."""
        task = self._task
        if task is not None and task is not asyncio.current_task():
            await asyncio.wait([task])

    async def close(self) -> None:
        self._waiting.clear()
        self._bytes = 0
        task = self._task
        if task is not None and task is not asyncio.current_task():
            task.cancel()
            await asyncio.wait([task], timeout=1.0)


async def _finish(pending: Awaitable[None]) -> None:
    try:
        await pending
    except Exception:
        client_logger().exception("a callback of the client failed")
