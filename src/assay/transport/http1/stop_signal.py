"""SIGINT and SIGTERM as a request to stop."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class StopSignal:
    """Handles signals while entered, in the main thread only. After Ctrl-C, a second signal cancels the task
    instead of waiting for requests in progress."""

    def __init__(self) -> None:
        self.interrupted = False
        self._received = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()

    def __enter__(self) -> StopSignal:
        handled = SIGNALS if threading.current_thread() is threading.main_thread() else ()
        self._before = {number: signal.signal(number, self._on_signal) for number in handled}
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    async def wait(self) -> None:
        await self._received.wait()

    def set(self) -> None:
        """Stop as after a signal."""
        self._received.set()

    def _on_signal(self, number: int, _: object) -> None:
        self.interrupted = self.interrupted or number == signal.SIGINT
        self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        if self._received.is_set() and self.interrupted and self._task is not None:
            self._task.cancel()
        self._received.set()
