"""Signals as a list that a loop reads, instead of interruptions."""

from __future__ import annotations

import signal
import socket
from collections.abc import Sequence
from contextlib import suppress


class SignalQueue:
    """Handles signals while entered. Its `reader` becomes readable when one arrives. Main thread only."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers
        self.reader, self._writer = socket.socketpair()
        for end in (self.reader, self._writer):
            end.setblocking(False)

    def __enter__(self) -> SignalQueue:
        self._wakeup_before = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._before = {number: signal.signal(number, _ignore) for number in self._numbers}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup_before)
        self.reader.close()
        self._writer.close()

    def take(self) -> list[int]:
        """The signals since the last call, in order."""
        with suppress(BlockingIOError):
            return list(self.reader.recv(4096))
        return []


def _ignore(number: int, frame: object) -> None:
    """The number is read from the wake-up descriptor."""
