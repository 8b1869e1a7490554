"""A connection through a proxy: the proxy is asked to pass on bytes, and does not see what they say."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Final, TypeVar, cast

import httptools

from assay.model.client_error import ConnectionFailed

from .http_hint import PROXY_CREDENTIALS
from .proxy import Proxy
from .url import PORTS, Address

P = TypeVar("P", bound=asyncio.Protocol)
HEAD_BYTES: Final = 64 * 1024
TRANSIENT: Final = frozenset({429, 502, 503, 504})
"""Statuses after which the same request may work soon."""
HINTS: Final = {
    403: "it does not allow this address",
    407: PROXY_CREDENTIALS,
    502: "it does not reach the server: is it running?",
    504: "it got no answer from the server in time",
}


async def through(
    tunnel: Tunnel, make: Callable[[], P], address: Address, context: ssl.SSLContext | None
) -> P:
    """Wait until the proxy has opened the tunnel, and give it to a new protocol.

    Raises:
        ConnectionFailed: the proxy refuses.
        OSError: the server is not trusted, or the connection ended.
    """
    transport = tunnel.transport
    try:
        await tunnel.opened
        protocol = make()
        if context is None:
            transport.set_protocol(protocol)
        else:
            transport = await _encrypt(transport, protocol, context, address.host)
        protocol.connection_made(transport)
        return protocol
    except BaseException:
        transport.abort()
        raise


async def _encrypt(
    transport: asyncio.Transport, protocol: asyncio.Protocol, context: ssl.SSLContext, host: str
) -> asyncio.Transport:
    loop = asyncio.get_running_loop()
    encrypted = await loop.start_tls(transport, protocol, context, server_hostname=host)
    return cast(asyncio.Transport, encrypted)


class Tunnel(asyncio.Protocol):
    """Asks a proxy for a connection to an address: CONNECT (RFC 9110, section 9.3.6)."""

    transport: asyncio.Transport

    def __init__(self, proxy: Proxy, address: Address) -> None:
        host = f"[{address.host}]" if ":" in address.host else address.host
        authority = f"{host}:{address.port or PORTS[address.scheme]}"
        self._proxy = proxy
        self._address = address
        self._room = HEAD_BYTES
        self._parser = httptools.HttpResponseParser(self)
        self._request = f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{proxy.line}\r\n".encode(
            "latin-1"
        )
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._room -= len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            # After a tunnel is open, anything may follow: it is not for this parser.
            self._fail(f"its answer is not HTTP: {error}")
        if self._room < 0:
            self._fail("the head of its answer is too long")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if 200 <= status < 300:
            if not self.opened.done():
                self.opened.set_result(None)
        elif status >= 200:
            hint = HINTS.get(status)
            self._fail(f"status {status}{f': {hint}' if hint else ''}", unsent=status in TRANSIENT)

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail("it closed the connection", unsent=True)

    def _fail(self, problem: str, *, unsent: bool = False) -> None:
        if not self.opened.done():
            proxy = self._proxy.address.url
            error = ConnectionFailed(
                f"cannot connect to {self._address.url} through the proxy {proxy}: {problem}"
            )
            error.unsent = unsent
            self.opened.set_exception(error)
