"""Being told to stop, by signals."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """The wish of whoever sends signals, to the main thread. After Ctrl-C, another signal does not wait for
    what is under way."""

    def __init__(self) -> None:
        self.interrupted = False
        self._wished = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()

    def __enter__(self) -> Stop:
        heard = SIGNALS if threading.current_thread() is threading.main_thread() else ()
        self._before = {number: signal.signal(number, self._on_signal) for number in heard}
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    async def wished(self) -> None:
        await self._wished.wait()

    def _on_signal(self, number: int, _: object) -> None:
        self.interrupted = self.interrupted or number == signal.SIGINT
        self._loop.call_soon_threadsafe(self._wish)

    def _wish(self) -> None:
        if self._wished.is_set() and self.interrupted and self._task is not None:
            self._task.cancel()
        self._wished.set()
