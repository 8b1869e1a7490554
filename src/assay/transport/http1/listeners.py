"""The sockets on which a server accepts connections."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Sequence
from typing import Final, Protocol

from .accept_errors import AcceptErrors
from .listening import BACKLOG
from .server_state import ServerState

ACCEPTED_AT_ONCE: Final = 100
"""Connections that asyncio accepts in one turn. It also tries, and fails, that often if no more files can be
opened."""


class Listener(Protocol):
    def close(self) -> None: ...


class Listeners:
    """A worker is asked for different sockets while it serves, and one process has one."""

    def __init__(self, server: ServerState, tls: ssl.SSLContext | None, errors: AcceptErrors) -> None:
        self._server = server
        self._tls = tls
        self._errors = errors
        self._open: dict[socket.socket, Listener] = {}
        self._closed = False

    async def listen_on(self, sockets: Sequence[socket.socket]) -> None:
        """Accept on these, and no longer on others, which remain open for other processes."""
        for bound in [each for each in self._open if each not in sockets]:
            self._open.pop(bound).close()
        for bound in sockets:
            if bound not in self._open and not self._closed:
                self._open[bound] = await self._listen(bound)

    async def _listen(self, bound: socket.socket) -> Listener:
        from .tls_listener import TlsListener

        # A listener closes what it listens on.
        copy = bound.dup()
        server = self._server
        if self._tls is not None:
            return TlsListener(server, copy, self._tls, self._errors)
        listener: Listener = await server.loop.create_server(
            server.new_connection, sock=copy, backlog=ACCEPTED_AT_ONCE
        )
        copy.listen(BACKLOG)  # `create_server` has changed it
        return listener

    def close(self) -> None:
        self._closed = True
        for listener in self._open.values():
            listener.close()
        self._open.clear()
