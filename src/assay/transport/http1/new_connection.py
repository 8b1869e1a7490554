"""New connections: a client that opens many gets no more than its share of the server's time for them.

To accept, set up and tear down a connection costs more than a small call. While others are served, that
counts against the client's share. Beyond it, what a new connection sends is handled later. A client that is
alone may open as many as it likes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Hashable, Iterable, Iterator
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Final, Protocol

from assay.protocol.time_share import TimeShares

from .turn_queue import TurnQueues

if TYPE_CHECKING:
    from .connection import HttpConnection
    from .server_state import Clock

CONNECTION_SECONDS: Final = 200e-6
"""What a connection costs besides its requests, with a margin for slower machines."""
WEBSOCKET_SECONDS: Final = 400e-6
"""What a WebSocket costs besides that, with its session."""
TLS_SECONDS: Final = 1e-3
"""What a handshake costs besides that."""


class ServedConnection(Protocol):
    def active_client(self, since: float) -> Hashable | None:
        """The client, if it was served since then, on the server's clock."""


class NewConnections:
    """Decides whether a new connection has to wait."""

    def __init__(
        self,
        shares: TimeShares,
        turns: TurnQueues,
        clock: Clock,
        connections: Collection[ServedConnection],
    ) -> None:
        self._shares = shares
        self._turns = turns
        self._clock = clock
        self._connections = connections
        self._looked_at = -inf
        self._active: frozenset[Hashable] = frozenset()
        """Two of the clients that were served lately: enough to know whether one has company."""
        self._arrived: set[Hashable] = set()
        """Two of the clients that have opened connections since then: they may have closed them already."""

    def must_wait(self, client: Hashable, seconds: float) -> bool:
        """Count what a new connection costs, if others are served. Returns whether it has to wait."""
        if self._shares.unlimited:
            return False
        if len(self._arrived) < 2:
            self._arrived.add(client)
        if not self._has_company(client):
            return False
        must_wait = self._turns.must_wait(client)
        self._shares.charge(client, seconds)
        return must_wait

    def _has_company(self, client: Hashable) -> bool:
        """Whether other clients have been served since the last sweep but one. Connections are looked through
        once per sweep, and only if there are new ones: requests cost nothing more."""
        if self._looked_at != self._clock.time:
            since = self._clock.previous
            arrived = self._arrived if self._looked_at >= since else ()
            served = (connection.active_client(since) for connection in self._connections)
            self._active = frozenset(_two_of(chain(arrived, served)))
            self._looked_at, self._arrived = self._clock.time, {client}
        return not (self._active <= {client} and self._arrived <= {client})


def _two_of(clients: Iterable[Hashable | None]) -> Iterator[Hashable]:
    first: Hashable | None = None
    for client in clients:
        if client is not None and client != first:
            yield client
            if first is not None:
                return
            first = client


class DelayedConnection(asyncio.Protocol):
    """Takes the place of a new connection that has to wait."""

    def __init__(
        self, connection: HttpConnection, transport: asyncio.Transport, turns: TurnQueues, client: Hashable
    ) -> None:
        self._connection = connection
        self._transport = transport
        self._turns = turns
        self._client = client
        self._data = b""

    def begin(self) -> None:
        """Wait, or cut the connection off if there are too many: to refuse each would cost as much as to
        serve it."""
        if self._turns.join(self._client, self):
            self._transport.set_protocol(self)
        else:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._data += data
        self._transport.pause_reading()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self._turns.leave(self._client, self)
        self._connection.connection_lost(error)

    def take_turn(self) -> None:
        if self._transport.is_closing():
            return
        self._transport.set_protocol(self._connection)
        if self._data:
            self._transport.resume_reading()
            self._connection.data_received(self._data)
