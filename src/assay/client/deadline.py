"""Ends calls that take too long, with one timer for all of them.

`asyncio.timeout` sets and removes a timer for each call, which takes longer than the rest of the client does
for a call in memory. The calls of a client nearly always have the same timeout, so the timer of the first is
also early enough for those that follow.
"""

from __future__ import annotations

import asyncio
from typing import Any


class Deadlines:
    """The deadlines of the calls in progress."""

    def __init__(self) -> None:
        # Its clock, not another: tests can move that one.
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[Deadline, float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0

    def start(self, timeout: float) -> Deadline:
        """Begin to wait in the current task; `Deadline.end` must follow."""
        deadline = Deadline()
        at = self._loop.time() + timeout
        self._waiting[deadline] = at
        if self._timer is None or at < self._next:
            self._set(at)
        return deadline

    def end(self, deadline: Deadline) -> None:
        del self._waiting[deadline]
        if deadline.has_passed:
            deadline.forgive()

    def _set(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._next = at
        self._timer = self._loop.call_at(at, self._expire)

    def _expire(self) -> None:
        now, self._timer = self._loop.time(), None
        for deadline, at in self._waiting.items():
            if at <= now:
                deadline.expire()
        later = [at for at in self._waiting.values() if at > now]
        if later:
            self._set(min(later))

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Deadline:
    """The deadline of the current task. When it passes, the task is cancelled, once."""

    __slots__ = ("_cancelling", "_forgiven", "_task", "has_passed")

    def __init__(self) -> None:
        task: asyncio.Task[Any] | None = asyncio.current_task()
        if task is None:
            raise RuntimeError("a call with a timeout needs a task")
        self._task = task
        self._cancelling = task.cancelling()
        self.has_passed = self._forgiven = False

    def expire(self) -> None:
        if not self.has_passed:
            self.has_passed = True
            self._task.cancel()

    def is_cause(self) -> bool:
        """Whether a `CancelledError` in the task came from here, and from nowhere else."""
        return self.has_passed and self.forgive() <= self._cancelling

    def forgive(self) -> int:
        """Take the cancellation back, once. Returns how many others the task has."""
        if self._forgiven:
            return self._task.cancelling()
        self._forgiven = True
        return self._task.uncancel()
