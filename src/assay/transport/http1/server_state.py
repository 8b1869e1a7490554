"""State that the connections of one server share: the application, the clock, and their list."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Hashable, Sequence
from email.utils import formatdate
from typing import TYPE_CHECKING, Final, Protocol

from assay.model.limits import Limits
from assay.protocol.byte_budget import ByteBudget, ByteShare
from assay.protocol.http.asgi import AsgiScope, Receive, Transmit
from assay.protocol.http.client_address import Network, client_address, is_trusted
from assay.protocol.time_share import TimeShares

from .new_connection import NewConnections
from .observer import Observation
from .turn_queue import TurnQueues

if TYPE_CHECKING:
    from .connection import HttpConnection

SWEEP_INTERVAL: Final = 1.0
"""Seconds between two checks for expired connections, and so the precision of their timeouts. One timer for
all of them costs less than one per request."""


FLUSH: Final = 1.0
"""Seconds for the last answers to be written, if the application has used all the time to stop."""


class Application(Protocol):
    """An ASGI application that can end its streams."""

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None: ...

    async def close(self) -> None: ...


class ManagedConnection(Protocol):
    """What the server state needs of a connection. A stopping server calls `wind_down` first, and `finish`
    once the application has closed."""

    deadline: float
    """When `expire` is due, on the loop's clock."""

    def expire(self) -> None: ...

    def wind_down(self) -> None: ...

    def finish(self) -> None: ...

    def abort(self) -> None: ...

    def active_client(self, since: float) -> Hashable | None: ...


class Clock:
    """The loop's time, and the current `Date` header. Both are refreshed at every sweep."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.now = loop.time
        self.time = self.now()
        self.tick()

    def tick(self) -> None:
        self.previous = self.time
        """The time of the last sweep but one."""
        self.time = self.now()
        """The time of the last sweep: precise enough for long timeouts."""
        self.date_and_end = f"date: {formatdate(time.time(), usegmt=True)}\r\n\r\n".encode()


class ServerState:
    def __init__(
        self,
        app: Application,
        limits: Limits,
        budget: ByteBudget | None = None,
        shares: TimeShares | None = None,
        trusted_proxies: Sequence[Network] = (),
        observation: Observation | None = None,
    ) -> None:
        self.app = app
        self.observation = observation
        if observation is not None:
            observation.server = self
        self.limits = limits
        self._budget = ByteBudget.of(limits) if budget is None else budget
        self.loop = asyncio.get_running_loop()
        self.time_shares = TimeShares(limits, time.perf_counter) if shares is None else shares
        self.turns = TurnQueues(self.time_shares, self.loop)
        self._trusted_proxies = trusted_proxies
        self.clock = Clock(self.loop)
        self._connections: set[ManagedConnection] = set()
        self.newcomers = NewConnections(self.time_shares, self.turns, self.clock, self._connections)
        self._tasks: set[asyncio.Task[None]] = set()
        self._empty = asyncio.Event()
        self.closing = False
        self._sweep_timer = self.loop.call_later(SWEEP_INTERVAL, self._sweep)

    def client_of(self, scope: AsgiScope) -> Hashable:
        """Whose connection it is. All connections of a client count together."""
        client = scope.get("client")
        headers = scope.get("headers", ())
        return "address", client_address(client[0] if client else "", headers, self._trusted_proxies)

    def client_at(self, address: str) -> Hashable | None:
        """The client that connects from an address; none if that is a proxy's, where the headers of each
        request name it."""
        if self._trusted_proxies and is_trusted(address, self._trusted_proxies):
            return None
        return "address", client_address(address, (), ())

    def share(self, client: Hashable) -> ByteShare:
        """What a connection takes of the byte budget."""
        return self._budget.share(client)

    @property
    def connection_count(self) -> int:
        return len(self._connections)

    def new_connection(self) -> HttpConnection:
        """What serves a connection that was accepted."""
        # Imported here: a connection refers to the state of its server.
        from .connection import HttpConnection

        if self.observation is None:
            return HttpConnection(self)
        from .observed_connection import ObservedConnection

        return ObservedConnection(self)

    def admit(self, connection: ManagedConnection) -> int:
        """Add a connection. Returns how far the number of connections exceeds the limit; a surplus
        connection is managed as well, until it has been refused and closed."""
        self._connections.add(connection)
        return len(self._connections) - self.limits.connections

    def replace(self, connection: ManagedConnection, successor: ManagedConnection) -> None:
        """Hand a client over to another protocol."""
        self._connections.discard(connection)
        self._connections.add(successor)

    def remove(self, connection: ManagedConnection) -> None:
        self._connections.discard(connection)
        if not self._connections:
            self._empty.set()

    def keep_task(self, task: asyncio.Task[None] | None) -> None:
        """Hold a task that has lost its connection until it is done; the event loop holds no reference."""
        if task is not None and not task.done():
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _sweep(self) -> None:
        self._sweep_timer = self.loop.call_later(SWEEP_INTERVAL, self._sweep)
        self.clock.tick()
        now = self.clock.now()
        for connection in [each for each in self._connections if each.deadline <= now]:
            connection.expire()

    async def close(self, patience: float) -> None:
        """End idle connections, wait up to `patience` seconds for requests in progress, then cut the others.

        The application ends its streams, and may use that time itself: it answers what it cannot finish.
        """
        self.closing = True
        deadline = self.loop.time() + patience
        try:
            for connection in list(self._connections):
                connection.wind_down()
            await self.app.close()
            for connection in list(self._connections):
                connection.finish()
            await self._wait_until_idle(max(deadline - self.loop.time(), min(patience, FLUSH)))
        finally:
            self._sweep_timer.cancel()
            for connection in list(self._connections):
                connection.abort()
        await self._wait_until_idle(SWEEP_INTERVAL, cancel=True)

    async def _wait_until_idle(self, patience: float, *, cancel: bool = False) -> None:
        """Wait for all connections to close and all tasks to finish, up to a timeout."""
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
