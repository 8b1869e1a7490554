"""Passes the bytes of HTTP connections on, unchanged, after they were recorded.

Each connection of a client has one to the server. What one side does (a half-close, a reset, a pause) the
other side sees, so that both behave as they would without the tap.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from typing import Any, Final

from assay.lab.harness.links.http_call import Address, reason_for

from .capture import Capture
from .grouping import Grouping
from .host_header import HostHeader
from .http_exchange import HttpExchanges

PATIENCE: Final = 10.0
TICK: Final = 1.0
MOST_WAITING: Final = 256 * 1024
"""Bytes of a client that are held until its connection to the server is there."""
_TEXTS: Final = {502: "Bad Gateway", 503: "Service Unavailable"}


class HttpRelay:
    def __init__(self, capture: Capture, url: str, context: ssl.SSLContext | None = None) -> None:
        """
        Raises:
            ValueError: not a URL of an HTTP or WebSocket endpoint.
        """
        self.capture = capture
        self.address = Address.of(url)
        self.context = (context or ssl.create_default_context()) if self.address.secure else None
        self.grouping = Grouping(capture, self.address.target.partition("?")[0])
        self.listen = ""
        self.pairs: set[_Pair] = set()
        self.connections = 0
        self.problems = 0
        """Connections that could not be read to the end."""
        self.problem = ""
        self._servers: list[asyncio.Server] = []
        self._ticking: asyncio.TimerHandle | None = None

    async def start(self, host: str, port: int) -> None:
        """
        Raises:
            OSError: the address cannot be bound.
        """
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _ClientSide(self), host, port, backlog=1024)
        self._servers.append(server)
        bound: int = server.sockets[0].getsockname()[1]
        self.listen = f"[{host}]:{bound}" if ":" in host else f"{host}:{bound}"
        self._tick()

    @property
    def url(self) -> str:
        """The address for clients."""
        return f"http://{self.listen}{self.address.target}"

    def _tick(self) -> None:
        self.capture.tick()
        self._ticking = asyncio.get_running_loop().call_later(TICK, self._tick)

    async def stop(self) -> None:
        for server in self._servers:
            server.close()
        if self._ticking is not None:
            self._ticking.cancel()
        for pair in list(self.pairs):
            pair.abort()
        while self.pairs:  # the loop reports each lost connection
            await asyncio.sleep(0)
        self.capture.close()


class _Pair:
    """A connection of a client, and its connection to the server."""

    def __init__(self, relay: HttpRelay, client: asyncio.Transport) -> None:
        self.relay = relay
        self.client = client
        self.server: asyncio.Transport | None = None
        host = (client.get_extra_info("peername") or ("",))[0]
        self.exchanges = HttpExchanges(relay.grouping, str(host), relay.capture.options.frame)
        is_elsewhere = not relay.address.is_local
        self._host = HostHeader(relay.address.authority, relay.listen) if is_elsewhere else None
        self._waiting = bytearray()
        self._client_ended = self._server_ended = False
        self._refusal: tuple[int, str] | None = None
        self._connecting: asyncio.Task[None] | None = None
        relay.pairs.add(self)
        relay.connections += 1

    def begin(self) -> None:
        if len(self.relay.pairs) > self.relay.capture.options.connections:
            problem = f"more than {self.relay.capture.options.connections} connections: see --connections"
            self._refusal = 503, problem
            return
        self._connecting = asyncio.get_running_loop().create_task(self._connect())

    async def _connect(self) -> None:
        address, context = self.relay.address, self.relay.context
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(PATIENCE):
                await loop.create_connection(
                    lambda: _ServerSide(self),
                    address.host,
                    address.port,
                    ssl=context,
                    server_hostname=address.host if context is not None else None,
                )
        except TimeoutError:
            self._refuse(f"no connection to {address.authority} within {PATIENCE:g} s")
        except OSError as error:
            self._refuse(f"no connection to {address.authority}: {reason_for(error)}")

    def connected(self, server: asyncio.Transport) -> None:
        self.server = server
        if self.client.is_closing():
            server.close()
            return
        if self._waiting:
            server.write(bytes(self._waiting))
            self._waiting.clear()
        self.client.resume_reading()
        if self._client_ended:
            _end(server)

    def _refuse(self, problem: str) -> None:
        self._refusal = 502, problem
        self.client.resume_reading()
        if self._waiting or self._client_ended:
            self._answer()

    def _answer(self) -> None:
        assert self._refusal is not None
        status, problem = self._refusal
        self.exchanges.server_left(problem)
        text = f"assay tap: {problem}\n".encode()
        head = f"HTTP/1.1 {status} {_TEXTS[status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        self.client.write(f"{head}Content-Length: {len(text)}\r\nConnection: close\r\n\r\n".encode() + text)
        self.client.close()

    def from_client(self, data: bytes) -> None:
        self._read(self.exchanges.from_client, data)
        if self._refusal is not None:
            self._answer()
            return
        data = data if self._host is None else self._host.changed(data)
        if self.server is not None:
            self.server.write(data)
            return
        self._waiting += data
        if len(self._waiting) > MOST_WAITING:
            self.client.pause_reading()

    def from_server(self, data: bytes) -> None:
        self._read(self.exchanges.from_server, data)
        self.client.write(data)

    def _read(self, feed: Callable[[bytes], None], data: bytes) -> None:
        was_readable = not self.exchanges.problem
        feed(data)
        if was_readable and self.exchanges.problem:
            self.relay.problems += 1
            self.relay.problem = self.exchanges.problem

    def client_ended(self) -> None:
        self._client_ended = True
        self.exchanges.client_ended()
        if self.server is not None:
            _end(self.server)
        self._close_if_done()

    def server_ended(self) -> None:
        self._server_ended = True
        self.exchanges.server_left()
        _end(self.client)
        self._close_if_done()

    def _close_if_done(self) -> None:
        if self._client_ended and self._server_ended:
            self.client.close()
            if self.server is not None:
                self.server.close()

    def client_lost(self, error: Exception | None) -> None:
        self.exchanges.client_left("" if error is None else str(error))
        self.relay.pairs.discard(self)
        if self._connecting is not None:
            self._connecting.cancel()
        _close(self.server, error)

    def server_lost(self, error: Exception | None) -> None:
        self.exchanges.server_left("" if error is None else f"the connection broke: {error}")
        _close(self.client, error)

    def abort(self) -> None:
        self.client.abort()
        if self.server is not None:
            self.server.abort()


def _end(transport: asyncio.Transport) -> None:
    """Pass a half-close on, where the connection has that."""
    with contextlib.suppress(OSError, RuntimeError):
        if not transport.is_closing():
            transport.write_eof() if transport.can_write_eof() else transport.close()


def _close(transport: asyncio.Transport | None, error: Exception | None) -> None:
    if transport is not None:
        transport.close() if error is None else transport.abort()


class _ClientSide(asyncio.Protocol):
    def __init__(self, relay: HttpRelay) -> None:
        self._relay = relay
        self._pair: _Pair

    def connection_made(self, transport: Any) -> None:
        self._pair = _Pair(self._relay, transport)
        self._pair.begin()

    def data_received(self, data: bytes) -> None:
        self._pair.from_client(data)

    def eof_received(self) -> bool:
        self._pair.client_ended()
        return True

    def pause_writing(self) -> None:
        if self._pair.server is not None:
            self._pair.server.pause_reading()

    def resume_writing(self) -> None:
        if self._pair.server is not None:
            self._pair.server.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._pair.client_lost(exc)


class _ServerSide(asyncio.Protocol):
    def __init__(self, pair: _Pair) -> None:
        self._pair = pair

    def connection_made(self, transport: Any) -> None:
        self._pair.connected(transport)

    def data_received(self, data: bytes) -> None:
        self._pair.from_server(data)

    def eof_received(self) -> bool:
        self._pair.server_ended()
        return self._pair.relay.context is None  # TLS has no half-close

    def pause_writing(self) -> None:
        self._pair.client.pause_reading()

    def resume_writing(self) -> None:
        self._pair.client.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._pair.server_lost(exc)
