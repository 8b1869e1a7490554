"""A clock that a test moves: timeouts and lifetimes end without waiting for them."""

from __future__ import annotations

import asyncio
from typing import Final
from weakref import WeakKeyDictionary

START: Final = 1_750_000_000.0
"""A plausible wall-clock time (June 2025): tokens and certificates are compared with it."""


TURNS: Final = 100
"""Turns of an event loop after which tasks that only wait for each other have come to rest."""


class _Shift:
    """How far the time of an event loop is ahead. Never goes back: timers could not bear it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """
        Raises:
            RuntimeError: the time of this kind of loop cannot be moved.
        """
        if not isinstance(loop, asyncio.BaseEventLoop):  # uvloop's timers do not ask for `time`
            raise RuntimeError(
                f"a ManualClock cannot move the time of a {type(loop).__module__} loop: "
                "use asyncio's own loop in these tests"
            )
        self.seconds = 0.0
        measure = loop.time
        loop.time = lambda: measure() + self.seconds  # type: ignore[method-assign]


_SHIFTS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Shift] = WeakKeyDictionary()


class ManualClock:
    """Time that moves when `advance` is called. Pass it as the `clock=` of what has one (`Auth`, `RateLimit`,
    `ResponseCache`, `MemorySessions`), and `attach` it to an event loop for the timeouts there: those of
    handlers, questions and clients, and `asyncio.sleep`.

    An attached loop keeps running in real time, and is ahead by what was advanced.
    """

    def __init__(self, start: float = START) -> None:
        self._now = float(start)
        self._loops: list[asyncio.AbstractEventLoop] = []

    def __call__(self) -> float:
        """Seconds, as `time.time` and `time.monotonic` return them."""
        return self._now

    def attach(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Move the time of this event loop, too; by default of the running one.

        Raises:
            RuntimeError: no loop is running, or its time cannot be moved (uvloop).
        """
        loop = loop or asyncio.get_running_loop()
        if loop not in _SHIFTS:
            _SHIFTS[loop] = _Shift(loop)
        if loop not in self._loops:
            self._loops.append(loop)

    async def sleep(self, seconds: float) -> None:
        """Let the tasks of the event loop go on until they wait for something, move the time forward in one
        step, and let them go on with what is due then. Takes no time, and does not wait for threads and
        processes.

        Raises:
            ValueError: the time would go back.
        """
        self.attach()
        await _settle()
        self.advance(seconds)
        await _settle()

    def advance(self, seconds: float) -> None:
        """Move the time forward, for tests without async. Timers that are due then run in the thread of the
        client. Tasks that have not started yet set their timers afterwards: `sleep` lets them start first.

        Raises:
            ValueError: the time would go back.
        """
        if not seconds >= 0:
            raise ValueError(f"time only goes forward: {seconds}")
        self._now += seconds
        for loop in self._loops:
            if not loop.is_closed():
                _SHIFTS[loop].seconds += seconds
                loop.call_soon_threadsafe(_wake)


async def _settle() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


def _wake() -> None:
    """An idle loop looks at its timers again."""
