"""Calls a function at a steady interval, more precisely than the timers of event loops: milliseconds."""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from collections.abc import Callable
from typing import Final

SECOND: Final = 10**9
_CLOCK_MONOTONIC: Final = 1
_NONBLOCK: Final = 0o4000


class _Spec(ctypes.Structure):
    _fields_ = (
        ("interval_s", ctypes.c_long),
        ("interval_ns", ctypes.c_long),
        ("value_s", ctypes.c_long),
        ("value_ns", ctypes.c_long),
    )


class Timer:
    def __init__(self, interval: int, call: Callable[[], None]) -> None:
        """`interval` is in nanoseconds."""
        self._interval = interval
        self._call = call
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.TimerHandle | None = None
        self._descriptor = _timerfd(interval) if sys.platform == "linux" else None
        if self._descriptor is None:
            self._next()
        else:
            self._loop.add_reader(self._descriptor, self._expired)

    @property
    def is_precise(self) -> bool:
        return self._descriptor is not None

    def _expired(self) -> None:
        assert self._descriptor is not None
        try:
            os.read(self._descriptor, 8)
        except BlockingIOError:
            return
        self._call()

    def _next(self) -> None:
        self._handle = self._loop.call_later(self._interval / SECOND, self._next)
        self._call()

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None


def _timerfd(interval: int) -> int | None:
    """A descriptor that is readable once in every interval; None if the system has none."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        descriptor = library.timerfd_create(_CLOCK_MONOTONIC, _NONBLOCK)
    except (OSError, AttributeError):
        return None
    if descriptor < 0:
        return None
    seconds, rest = divmod(interval, SECOND)
    spec = _Spec(seconds, rest, seconds, rest)
    if library.timerfd_settime(descriptor, 0, ctypes.byref(spec), None) != 0:
        os.close(descriptor)
        return None
    os.set_inheritable(descriptor, False)
    return int(descriptor)
