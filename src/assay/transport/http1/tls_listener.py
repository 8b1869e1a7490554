"""Accepts connections with TLS.

An event loop can do that alone, but calls a protocol only after the handshake. No limit would count the
connections before that, and a flood of handshakes that never end would take all descriptors.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Hashable
from math import inf
from typing import Final

from assay.model.visible import visible_record

from .accept_errors import AcceptErrors
from .connection import REFUSED_CONNECTIONS
from .new_connection import TLS_SECONDS
from .server_state import ServerState

log: Final = logging.getLogger("assay.http")
log.addFilter(visible_record)

RETRY: Final = 1.0
"""Seconds to wait when no more files can be opened."""


class TlsHandshake(asyncio.Protocol):
    """Counts as a connection until the handshake has succeeded and a connection takes its place."""

    deadline = inf
    """The event loop has the deadline of the handshake."""

    def __init__(self, server: ServerState, accepted: socket.socket, context: ssl.SSLContext) -> None:
        self._server = server
        self._accepted = accepted
        self._context = context
        self._task: asyncio.Task[None] | None = None

    def begin(self, address: str) -> None:
        """Begin with the handshake, or wait for the client's share of the server's time."""
        server, client = self._server, self._server.client_at(address)
        if server.admit(self) > REFUSED_CONNECTIONS:
            self.abort()
        elif client is None or not server.newcomers.must_wait(client, TLS_SECONDS):
            self.take_turn()
        elif not server.turns.join(client, self):
            self.abort()

    def take_turn(self) -> None:
        if self._accepted.fileno() >= 0:
            self._task = self._server.loop.create_task(self._run())
            self._server.keep_task(self._task)

    async def _run(self) -> None:
        try:
            await self._server.loop.connect_accepted_socket(
                lambda: self,
                self._accepted,
                ssl=self._context,
                ssl_handshake_timeout=self._server.limits.head_timeout,
            )
        except OSError as error:  # also errors of TLS, and timeouts
            log.debug("TLS handshake failed: %s", error)
        finally:
            self._server.remove(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._server.remove(self)
        connection = self._server.new_connection()
        transport.set_protocol(connection)
        connection.connection_made(transport)

    def active_client(self, since: float) -> Hashable | None:
        return None

    def expire(self) -> None:
        """Nothing to do: see `deadline`."""

    def abort(self) -> None:
        if self._task is not None:
            self._task.cancel()
        else:
            self._accepted.close()
            self._server.remove(self)

    wind_down = finish = abort


class TlsListener:
    """Accepts the connections of a socket until it is closed."""

    def __init__(
        self, server: ServerState, bound: socket.socket, context: ssl.SSLContext, errors: AcceptErrors
    ) -> None:
        self._server = server
        self._bound = bound
        self._context = context
        self._errors = errors
        self._retry: asyncio.TimerHandle | None = None
        bound.setblocking(False)
        self._resume()

    def _resume(self) -> None:
        self._server.loop.add_reader(self._bound, self._accept)

    def _accept(self) -> None:
        """Accept one connection: handshakes take longer than turns of the event loop."""
        try:
            accepted, address = self._bound.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:
            self._errors.report(error)
            self._server.loop.remove_reader(self._bound)
            self._retry = self._server.loop.call_later(RETRY, self._resume)
            return
        accepted.setblocking(False)
        TlsHandshake(self._server, accepted, self._context).begin(str(address[0]))

    def close(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
        self._server.loop.remove_reader(self._bound)
        self._bound.close()
