"""The connections of a client to one origin: opened when needed, reused, and all closed in the end."""

from __future__ import annotations

import asyncio
import ssl
from typing import Final

from assay.model.client_error import ClientClosed
from assay.model.client_limits import ClientLimits

from .connect import connect
from .http_connection import HttpConnection
from .url import Address

IDLE: Final = 8
"""Connections that are kept open for further requests."""


class HttpPool:
    def __init__(self, address: Address, limits: ClientLimits, tls: ssl.SSLContext | None) -> None:
        self._address = address
        self._limits = limits
        self._tls = tls
        self._idle: list[HttpConnection] = []
        self._connections: set[HttpConnection] = set()
        self._is_closed = False

    def take_idle(self) -> HttpConnection | None:
        """The connection that was used last: it is the least likely to be closed by the server."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                connection.reused = True
                return connection
        return None

    async def open(self) -> HttpConnection:
        """
        Raises:
            ConnectionFailed: the server cannot be reached, or is not trusted.
        """
        if self._is_closed:
            raise ClientClosed
        if self._address.is_encrypted and self._tls is None:
            self._tls = ssl.create_default_context()  # reads files, so only once
        connection = await connect(self._make, self._address, self._tls, self._limits.connect_timeout)
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
