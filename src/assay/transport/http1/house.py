"""What the connections of one server share: the application, the clock, and somebody who looks after them."""

from __future__ import annotations

import asyncio
import time
from email.utils import formatdate
from typing import Final, Protocol

from assay.model.limits import Limits
from assay.protocol.http.asgi import AsgiScope, Receive, Transmit

GLANCE: Final = 1.0
"""Seconds between two looks at the connections, and the precision of their timeouts."""


class Application(Protocol):
    """An ASGI application that can be told to end its streams."""

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None: ...

    async def close(self) -> None: ...


class Guest(Protocol):
    """A connection, as far as the house looks after it."""

    due: float
    """When patience with its client ends."""

    def expire(self) -> None: ...

    def finish(self) -> None: ...

    def abort(self) -> None: ...


class Clock:
    """The loop's time, and the line that tells it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.now = loop.time
        self.tick()

    def tick(self) -> None:
        self.time = self.now()
        """As of the last glance: near enough where patience is long."""
        self.date_and_end = f"date: {formatdate(time.time(), usegmt=True)}\r\n\r\n".encode()


class House:
    """Everything that the connections of one server share."""

    def __init__(self, app: Application, limits: Limits) -> None:
        self.app = app
        self.limits = limits
        self.loop = asyncio.get_running_loop()
        self.clock = Clock(self.loop)
        self._connections: set[Guest] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._empty = asyncio.Event()
        self._closing = False
        self._glance = self.loop.call_later(GLANCE, self._look)

    def admit(self, connection: Guest) -> int:
        """How many there are beyond the limit; they are looked after as well, until they have left."""
        self._connections.add(connection)
        if self._closing:
            connection.finish()
        return len(self._connections) - self.limits.connections

    def replace(self, connection: Guest, successor: Guest) -> None:
        """The same client goes on in another protocol."""
        self._connections.discard(connection)
        self._connections.add(successor)

    def forget(self, connection: Guest) -> None:
        self._connections.discard(connection)
        if not self._connections:
            self._empty.set()

    def keep(self, task: asyncio.Task[None] | None) -> None:
        """Hold on to work that has lost its connection, until it is done."""
        if task is not None and not task.done():
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _look(self) -> None:
        self._glance = self.loop.call_later(GLANCE, self._look)
        self.clock.tick()
        now = self.clock.now()
        for connection in [each for each in self._connections if each.due <= now]:
            connection.expire()

    async def close(self, patience: float) -> None:
        """End streams and idle connections, wait for what is under way, then cut what is left."""
        self._closing = True
        try:
            await self.app.close()
            for connection in list(self._connections):
                connection.finish()
            await self._leave(patience)
        finally:
            self._glance.cancel()
            for connection in list(self._connections):
                connection.abort()
        await self._leave(GLANCE, cancel=True)

    async def _leave(self, patience: float, *, cancel: bool = False) -> None:
        """Wait until everybody has left, and what they left behind is done; but not for ever."""
        try:
            async with asyncio.timeout(patience):
                while self._connections:
                    self._empty.clear()
                    await self._empty.wait()
                for task in self._tasks if cancel else ():
                    task.cancel()
                if self._tasks:
                    await asyncio.wait(self._tasks)
        except TimeoutError:
            pass
