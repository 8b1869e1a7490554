"""The connections of a client to one origin: opened when needed, reused, and all closed in the end."""

from __future__ import annotations

import asyncio
import ssl
from time import monotonic
from typing import Final

from assay.model.client_error import ClientClosed
from assay.model.client_limits import ClientLimits

from .connect import connect
from .http_connection import HttpConnection
from .proxy import Proxy
from .url import Address

IDLE: Final = 8
"""Connections that are kept open for further requests."""
STALE: Final = 1.0
"""Seconds after which an idle connection is looked at before it is used."""
TURNS: Final = 2
"""Of the event loop: one to see the end of a connection, one to act on it."""


class HttpPool:
    def __init__(
        self,
        address: Address,
        limits: ClientLimits,
        tls: ssl.SSLContext | None,
        proxy: Proxy | None = None,
    ) -> None:
        self._address = address
        self._proxy = proxy
        self._limits = limits
        self._tls = tls
        self._idle: list[HttpConnection] = []
        self._connections: set[HttpConnection] = set()
        self._is_closed = False

    def take_idle(self) -> HttpConnection | None:
        """The connection that was used last: it is the least likely to be closed by the server. None if that
        was long ago."""
        while self._idle and monotonic() - self._idle[-1].idle_since < STALE:
            connection = self._idle.pop()
            if connection.is_open:
                connection.reused = True
                return connection
        return None

    async def _take_stale(self) -> HttpConnection | None:
        """An idle connection after the event loop had the opportunity to notice that the server closed it. A
        program that blocks the loop would otherwise send a request into a closed connection, and a call that
        may have an effect is not sent twice."""
        for _ in range(TURNS):
            await asyncio.sleep(0)
        while self._idle:
            connection = self._idle.pop()
            if connection.is_usable:
                connection.reused = True
                return connection
        return None

    async def open(self) -> HttpConnection:
        """A new connection, or one that has been idle for long and is still open.

        Raises:
            ConnectionFailed: the server cannot be reached, or is not trusted.
        """
        if self._is_closed:
            raise ClientClosed
        if self._idle and (connection := await self._take_stale()) is not None:
            return connection
        if self._address.is_encrypted and self._tls is None:
            self._tls = ssl.create_default_context()  # reads files, so only once
        timeout = self._limits.connect_timeout
        connection = await connect(self._make, self._address, self._tls, timeout, proxy=self._proxy)
        if self._is_closed:
            connection.abort()
            raise ClientClosed
        return connection

    def _make(self) -> HttpConnection:
        connection = HttpConnection(self._limits.head_bytes, self._release, self._connections.discard)
        self._connections.add(connection)
        return connection

    def _release(self, connection: HttpConnection) -> None:
        if self._is_closed or len(self._idle) >= IDLE:
            connection.abort()
        else:
            connection.idle_since = monotonic()
            self._idle.append(connection)

    async def close(self) -> None:
        self._is_closed = True
        self._idle.clear()
        connections = list(self._connections)
        for connection in connections:
            connection.fail(ClientClosed())
        waits = [connection.closed for connection in connections if hasattr(connection, "_transport")]
        if waits:
            await asyncio.wait(waits, timeout=self._limits.close_timeout)
