"""The connections of a client to one origin: opened when needed, reused, and all closed in the end."""

from __future__ import annotations

import asyncio
import ssl
from typing import Final

from assay.model.client_error import ClientClosed, ConnectionFailed
from assay.model.client_limits import ClientLimits

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
        address, timeout = self._address, self._limits.connect_timeout
        if self._is_closed:
            raise ClientClosed
        try:
            async with asyncio.timeout(timeout):
                _, connection = await asyncio.get_running_loop().create_connection(
                    self._make,
                    address.host,
                    address.port,
                    ssl=self._context(),
                    happy_eyeballs_delay=0.25,
                )
        except TimeoutError as error:
            raise ConnectionFailed(f"cannot connect to {address.url}: no answer in {timeout:g} s") from error
        except (OSError, ValueError) as error:
            raise ConnectionFailed(f"cannot connect to {address.url}: {connect_problem(error)}") from error
        if self._is_closed:
            connection.abort()
            raise ClientClosed
        return connection

    def _make(self) -> HttpConnection:
        connection = HttpConnection(self._limits.head_bytes, self._release, self._connections.discard)
        self._connections.add(connection)
        return connection

    def _context(self) -> ssl.SSLContext | None:
        if self._address.is_encrypted and self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls if self._address.is_encrypted else None

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


def connect_problem(error: OSError | ValueError) -> str:
    """Why a connection could not be opened, and what to change."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}; pass tls= with its authority"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed ({error.reason}); does the server expect http:// or ws:// instead?"
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error):
        return "connection refused; is the server running, and on this port?"
    import socket

    if isinstance(error, socket.gaierror):
        return "the name of the host cannot be resolved; check its spelling and the network"
    return str(error) or type(error).__name__
