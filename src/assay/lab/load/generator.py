"""Drives the traffic: virtual users that wait for each answer, or a fixed rate that waits for nothing."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

from msgspec import Struct

from .error_kind import UNSENT
from .operation import Operation
from .schedule import SECOND, OpenSchedule
from .tally import Tally
from .timer import Timer
from .wire import OpeningFailed, Receiver, Wire, now

SESSIONS: Final = "sessions"
MOST_QUEUED: Final = 100_000
"""Operations that wait for a connection at a fixed rate; more are counted as not sent."""
SHORTEST_TICK: Final = 200_000
"""Nanoseconds between two looks at the schedule."""
LONGEST_TICK: Final = 10_000_000
AT_ONCE: Final = 50
"""Connections that are opened at the same time."""
BACK_OFF: Final = 0.1
"""Seconds between two attempts to connect."""
SWEEP: Final = 0.1
"""Seconds between two looks for answers that took too long, as a share of the time-out at most."""


class Pace(Struct, frozen=True, kw_only=True):
    users: int
    """Virtual users; at a fixed rate, connections."""
    rate: float | None = None
    """Operations in a second. None: each user sends the next operation after the answer to the last."""
    think: float = 0.0
    """Seconds between an answer and the next operation of a user."""
    poisson: bool = False
    seed: int = 0
    timeout: float = 10.0


class Generator:
    """Sends operations of a cycle on wires that `connect` makes."""

    def __init__(
        self, pace: Pace, cycle: Sequence[Operation], connect: Callable[[Receiver], Wire], tally: Tally
    ) -> None:
        self._pace = pace
        self._cycle = cycle
        self._position = 0
        self.tally = tally
        self.wires = [connect(self) for _ in range(pace.users)]
        self._idle: deque[Wire] = deque()
        self._queue: deque[int] = deque()
        self._stopping = False
        self._tasks: set[asyncio.Task[None]] = set()
        """Users that are connecting, or opening a session."""
        self._sweeping: asyncio.Task[None] | None = None
        self._timer: Timer | None = None
        self._schedule: OpenSchedule | None = None
        self.opened = 0

    async def open(self) -> None:
        """Open a session for each user.

        Raises:
            OpeningFailed: the first failure, if none could be opened.
        """
        if self._cycle[0].kind == SESSIONS:
            return  # opening sessions is what is measured
        slots = asyncio.Semaphore(AT_ONCE)
        failures: list[OpeningFailed] = []

        async def attempt(wire: Wire) -> None:
            async with slots:
                try:
                    await wire.open()
                    self.opened += 1
                except OpeningFailed as failure:
                    failures.append(failure)

        await asyncio.gather(*map(attempt, self.wires))
        if failures and not self.opened:
            raise failures[0]

    async def run(self, end: int) -> None:
        """Send operations from now to `end`; those that are intended in the time of the tally count."""
        self.start(end)
        await self.wait(end)

    def start(self, end: int) -> None:
        """Send the first operations. At once, so that a busy machine does not shorten the measured time."""
        self._sweeping = asyncio.create_task(self._sweep())
        if self._pace.rate is None:
            for wire in self.wires:
                self._continue(wire)
        else:
            self._idle.extend(self.wires)
            self._start_timer(self._pace.rate, now(), end)

    async def wait(self, end: int) -> None:
        try:
            while now() < end:
                await asyncio.sleep(min(1.0, max(0.0, (end - now()) / SECOND)))
            # What the last look at the schedule did not see was due all the same.
            while self._schedule is not None and not self._schedule.is_over:
                self.tick(self._schedule, now())
        finally:
            self._stop_sending()

    def _stop_sending(self) -> None:
        self._stopping = True
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._sweeping is not None:
            self._sweeping.cancel()

    def _start_timer(self, rate: float, begin: int, end: int) -> None:
        random = Random(self._pace.seed) if self._pace.poisson else None
        schedule = OpenSchedule(rate, begin, end, random=random)
        interval = min(max(int(SECOND / rate), SHORTEST_TICK), LONGEST_TICK)
        self._schedule = schedule
        self._timer = Timer(interval, lambda: self.tick(schedule, now()))

    def tick(self, schedule: OpenSchedule, at: int) -> None:
        """Start what is due."""
        for intended in schedule.due(at):
            if self.tally.begin <= intended < self.tally.end:
                self.tally.lag.record(at - intended)
            self._dispatch(intended)

    def _dispatch(self, intended: int) -> None:
        idle = self._idle
        while idle:
            wire = idle.popleft()
            if wire.is_usable or self._cycle[0].kind == SESSIONS:
                self._start(wire, intended)
                if wire.is_usable:
                    idle.append(wire)
                return
            if not wire.in_flight:
                self._repair(wire)
        if len(self._queue) < MOST_QUEUED:
            self._queue.append(intended)
        else:
            self.tally.record(self._cycle[0], intended, now(), UNSENT)

    def _start(self, wire: Wire, intended: int) -> None:
        operation = self._cycle[self._position]
        self._position = (self._position + 1) % len(self._cycle)
        if operation.kind == SESSIONS:
            self._spawn(self._open_session(wire, operation, intended))
        else:
            wire.send(operation, intended)

    def _continue(self, wire: Wire) -> None:
        """The next operation of a wire, or its rest."""
        if self._pace.rate is not None:
            if self._queue and (wire.is_usable or self._cycle[0].kind == SESSIONS):
                self._start(wire, self._queue.popleft())
            elif wire not in self._idle:
                self._idle.append(wire)
        elif self._stopping:
            return
        elif wire.is_usable or self._cycle[0].kind == SESSIONS:
            self._start(wire, now())
        else:
            self._repair(wire)

    def _repair(self, wire: Wire) -> None:
        self._spawn(self._reopen(wire))

    async def _reopen(self, wire: Wire) -> None:
        while not self._stopping:
            try:
                await (wire.open() if wire.lost_session else wire.reconnect())
            except OpeningFailed as failure:
                at = now()
                self.tally.record(self._cycle[0], at, at, failure.kind)
                await asyncio.sleep(BACK_OFF)
            else:
                self._continue(wire)
                return

    async def _open_session(self, wire: Wire, operation: Operation, intended: int) -> None:
        error = None
        try:
            await wire.open()
        except OpeningFailed as failure:
            error = failure.kind
        at = now()
        await wire.close()
        if error is not None:
            await asyncio.sleep(BACK_OFF)
        self.completed(wire, operation, intended, at, error)

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # What wires report.

    def completed(self, wire: Wire, operation: Operation, intended: int, at: int, error: str | None) -> None:
        self.tally.record(operation, intended, at, error)
        if self._pace.think and self._pace.rate is None:
            asyncio.get_running_loop().call_later(self._pace.think, self._continue, wire)
        elif wire.is_usable or self._stopping or operation.kind == SESSIONS:
            self._continue(wire)
        else:
            self._repair(wire)

    def message(self, operation: Operation, sent: int, previous: int, at: int, message: bytes) -> None:
        self.tally.record_message(sent, previous, at, message)

    async def _sweep(self) -> None:
        timeout = self._pace.timeout
        while True:
            await asyncio.sleep(min(SWEEP, timeout / 4))
            before = now() - int(timeout * SECOND)
            for wire in self.wires:
                if wire.in_flight:
                    wire.expire(before)

    @property
    def in_flight(self) -> int:
        return sum(wire.in_flight for wire in self.wires) + len(self._queue)

    async def drain(self) -> None:
        """Wait for what is in progress, for the time-out at most; the rest has timed out."""
        self._stopping = True
        end = now() + int(self._pace.timeout * SECOND)
        while (self.in_flight or self._tasks) and now() < end:
            await asyncio.sleep(0.01)
            for wire in self.wires:
                wire.expire(now() - int(self._pace.timeout * SECOND))
        for wire in self.wires:
            wire.expire(now())
        for intended in self._queue:
            self.tally.record(self._cycle[0], intended, now(), UNSENT)
        self._queue.clear()

    async def close(self) -> None:
        self._stop_sending()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(wire.close() for wire in self.wires))
