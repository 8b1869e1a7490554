"""An HTTP/1.1 connection: the requests of one client, served one after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable
from math import inf
from typing import TYPE_CHECKING, Any, Final

import httptools

from assay.protocol.byte_budget import ByteShare
from assay.protocol.http.asgi import AsgiScope
from assay.protocol.http.busy import refusal_while_stopping, unavailable
from assay.protocol.http.head_policy import JSON, Headers, Refusal
from assay.protocol.http.upgrade import read_upgrade, wants_upgrade

from .channel import Channel
from .new_connection import CONNECTION_SECONDS, WEBSOCKET_SECONDS, DelayedConnection
from .request_cycle import RequestCycle
from .request_head import (
    RequestRefused,
    expects_continue,
    head_without_upgrade,
    read_target,
    refusal_for,
    size_of_head,
    with_host,
)
from .response_head import CLOSE, head_lines
from .tls import tls_extension
from .websocket import WebSocketConnection

if TYPE_CHECKING:
    from .server_state import ServerState

REFUSED_CONNECTIONS: Final = 100
"""Connections beyond the limit that get a 503 response; any more are cut without one."""
HALF_CLOSED: Final = 10.0
"""Seconds to answer requests after their client has closed its sending side."""
HANG_UP: Final = 0.25
"""The same, if the application watches whether the client has hung up, in order to cancel its work."""
TOO_MANY: Final = unavailable("too many connections")
TOO_FAST: Final = unavailable("too many new connections")
PROXIED: Final = "proxied"
"""The clients behind a proxy: there may be several."""
ASGI: Final = {"version": "3.0", "spec_version": "2.4"}


class HttpConnection(Channel):
    """Speaks HTTP/1.1 to the client and ASGI to the application."""

    cycle_type: type[RequestCycle] = RequestCycle
    closing = False
    """The next response is the last."""
    _cycle: RequestCycle | None = None
    """The request being served."""
    _arriving: RequestCycle | None = None
    """The request whose body is still incomplete."""
    _previous: asyncio.Task[None] | None = None
    _last_refusal: Refusal | None = None
    """Sent when all requests before it have been answered; the connection closes after it."""
    _latest = 0
    """Bytes of the latest read."""
    _unparsed = 0
    """Bytes received since the parser last completed anything: bounds an endless head or trailer."""
    _half_closed: asyncio.TimerHandle | None = None
    _url = b""

    def __init__(self, server: ServerState) -> None:
        super().__init__(server)
        self._server = server
        self.app = server.app
        self._head_bytes = server.limits.head_bytes
        self._waiting: deque[RequestCycle] = deque()
        self._headers: Headers = []
        # llhttp refuses ambiguous framing, such as a length together with chunks, which two servers could
        # read in two ways (request smuggling; RFC 9112, 6.3 and 11.2). After an error nothing more is read.
        self._parser: Any = httptools.HttpRequestParser(self)

    # Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._addresses: AsgiScope = {
            "server": _address(transport, "sockname"),
            "client": _address(transport, "peername"),
            "scheme": "http" if transport.get_extra_info("sslcontext") is None else "https",
            **tls_extension(transport),
        }
        self.deadline = self._deadline_in(self.limits.head_timeout)
        server, peer = self._server, self._addresses["client"]
        client = self._client = server.client_at(peer[0] if peer else "")
        surplus = server.admit(self)
        if surplus > REFUSED_CONNECTIONS:
            self.abort()
        elif surplus > 0:
            self._refuse(TOO_MANY)
        elif server.closing:
            self._refuse(refusal_while_stopping(self.limits.drain))
        elif client is not None and server.newcomers.must_wait(client, CONNECTION_SECONDS):
            DelayedConnection(self, self._transport, server.turns, client).begin()

    def connection_lost(self, error: Exception | None) -> None:
        self.lost = True
        if self._half_closed is not None:
            self._half_closed.cancel()
        for cycle in (self._cycle, self._arriving):
            if cycle is not None:
                cycle.wake()
        # A request in progress may continue without its client.
        self._server.keep_task(self._previous)
        self._server.keep_task(None if self._cycle is None else self._cycle.task)
        self._server.remove(self)
        self._release_writers()
        self.taken()
        # The parser refers to this connection: break the reference cycle.
        self._parser = self._cycle = self._arriving = None
        self._waiting.clear()

    def data_received(self, data: bytes) -> None:
        if self._discarding:
            return
        self._latest = len(data)
        self._unparsed += self._latest
        while data:
            try:
                data = self._parser.feed_data(data)  # returns None
            except httptools.HttpParserUpgrade as upgrade:
                data = self._upgrade(data[upgrade.args[0] :])
            except httptools.HttpParserError as error:
                return self._refuse(refusal_for(error))
        if self._arriving is not None or self._unparsed:
            self._on_incomplete()

    def eof_received(self) -> bool:
        """The client has closed its sending side. It may still read: requests that have arrived are answered,
        within a time."""
        # TLS has no such state: its transports close in any case.
        if self._arriving is not None or self._cycle is None or not self._transport.can_write_eof():
            self._write_closed = True
            return False
        last = self._waiting[-1] if self._waiting else self._cycle
        last.keep_alive = False
        self._wait_for_answers(self._deadline_in(HALF_CLOSED))
        return True

    def _wait_for_answers(self, deadline: float) -> None:
        self._half_closed = self.loop.call_later(HANG_UP, self._check_half_closed, deadline)

    def _check_half_closed(self, deadline: float) -> None:
        """Close, if the time is up. A client that has hung up looks just like one that still reads, so an
        application that watches for it learns of it early."""
        cycle = self._cycle
        if self._write_closed:
            return
        if (cycle is not None and cycle.is_watched) or self.clock.now() >= deadline:
            self._close()
        else:
            self._wait_for_answers(deadline)

    def _on_incomplete(self) -> None:
        """A request has not fully arrived. It is served as soon as its head is complete."""
        cycle = self._arriving
        if cycle is not None and cycle is self._cycle and cycle.task is None:
            self._begin(cycle)
        if cycle is None and self._cycle is None and self._unparsed:
            # A client that sends its head byte by byte must not hold the connection open (Slowloris).
            self.deadline = min(self.deadline, self._deadline_in(self.limits.head_timeout))
        if self._unparsed > self._head_bytes:
            self._refuse(self._head_too_large().refusal)

    # Called by the parser

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value.rstrip()))

    def on_headers_complete(self) -> None:
        if self._unparsed + self._latest > self._head_bytes:
            self._check_head_size()
        self._unparsed = 0
        if self._parser.should_upgrade():
            return
        cycle = self.cycle_type(self, self._scope(), self._parser.should_keep_alive())
        # The parser reports trailer fields like headers. A new list keeps them out of the request's head,
        # where they must not be merged (RFC 9110, 6.5.1).
        self._url, self._headers = b"", []
        self._arriving = cycle
        if self._cycle is None:
            self._cycle = cycle
        else:
            # Pipelined: it waits for its turn, and reading pauses until then.
            self._waiting.append(cycle)
            self._pause_reading()
            self._hold(self._latest)

    def on_body(self, part: bytes) -> None:
        self._unparsed = 0
        cycle = self._arriving
        if cycle is not None and not cycle.take(part):
            self._pause_reading()
            self._hold(cycle.size)

    def _new_share(self) -> ByteShare:
        return self._server.share(self._server.client_of(self._addresses))

    def on_message_complete(self) -> None:
        self._unparsed = 0
        cycle = self._arriving
        if cycle is not None:
            self._arriving = None
            self._headers.clear()
            cycle.complete()
            if cycle is self._cycle and cycle.task is None:
                self._begin(cycle)

    def _check_head_size(self) -> None:
        """Measure the head itself, so that the limit does not depend on how the input was split."""
        if size_of_head(self._url, self._headers) > self._head_bytes:
            raise self._head_too_large()

    def _head_too_large(self) -> RequestRefused:
        return RequestRefused(Refusal(431, f"headers too large: limit {self._head_bytes} bytes"))

    def _scope(self) -> AsgiScope:
        """
        Raises:
            RequestRefused: the target or the HTTP version is not supported.
        """
        path, raw_path, query, authority = read_target(self._url)
        if authority is not None:
            self._headers = with_host(authority, self._headers)
        parser = self._parser
        version = parser.get_http_version()
        if version != "1.1":
            self._accept_old_version(version)
        return {
            "type": "http",
            "asgi": ASGI,
            "http_version": version,
            "method": parser.get_method().decode(),
            "path": path,
            "raw_path": raw_path,
            "query_string": query,
            "root_path": "",
            "headers": self._headers,
            **self._addresses,
        }

    def _accept_old_version(self, version: str) -> None:
        if version != "1.0":
            raise RequestRefused(Refusal(505, f"HTTP version not supported: {version}; send 1.1"))
        # A persistent HTTP/1.0 connection would need a `Connection: keep-alive` header in the response.
        self.closing = True

    # The order of requests

    def _begin(self, cycle: RequestCycle) -> None:
        self.deadline = inf
        if self._previous is not None and not self._previous.done():
            self._server.keep_task(self._previous)
        if not cycle.arrived and expects_continue(cycle.scope["http_version"], cycle.scope["headers"]):
            cycle.expect_continue()
        cycle.task = self.loop.create_task(cycle.run())

    def cycle_ended(self, cycle: RequestCycle) -> None:
        """The response is written: serve the next request, or close."""
        # The application may still be running, and the event loop holds no reference to its task.
        self._previous = cycle.task
        self._cycle = None
        if not cycle.keep_alive or self.closing:
            fully_read = cycle.arrived and self._reading and not self._discarding
            return self._close() if fully_read else self._linger()
        if self.congested:
            # A client that does not read its responses gets no further ones.
            return self._pause_reading()
        return self._next()

    def _next(self) -> None:
        if self._waiting:
            self._cycle = self._waiting.popleft()
            if not self._waiting:
                self.taken()
                if self._cycle.arrived:
                    self.resume_reading()
            return self._begin(self._cycle)
        if self._last_refusal is not None:
            return self.refuse_and_close(self._last_refusal)
        self.deadline = self.clock.time + self.limits.keep_alive
        return None if self._reading else self.resume_reading()

    def _on_writable(self) -> None:
        if self._cycle is None:
            self._next()
        else:
            self.deadline = inf

    # Called by request cycles and the server state

    def active_client(self, since: float) -> Hashable | None:
        """An idle stream does not count: it waits for its client to hang up."""
        cycle = self._cycle
        served = self.deadline >= since + self.limits.keep_alive if cycle is None else not cycle.is_watched
        return (self._client or PROXIED) if served else None

    def wind_down(self) -> None:
        """Close as soon as no request is in progress. One whose head has begun to arrive is refused."""
        self.closing = True
        if self._cycle is None and not self._write_closed:
            if self._unparsed:
                self._write_refusal(refusal_while_stopping(self.limits.drain))
            self._close()

    finish = wind_down

    def expire(self) -> None:
        """The deadline has passed. A client that stopped in the middle of a head gets a 408; an idle one is
        closed without a response."""
        if self.congested or self._closed:
            self._abort_if_stalled()
        elif self._unparsed and not self._discarding:
            self._refuse(Refusal(408, f"headers did not arrive within {self.limits.head_timeout:g} s"))
        else:
            self._close()

    def _refuse(self, refusal: Refusal) -> None:
        """Refuse input that the application cannot be called with, and close the connection."""
        self._discarding = True
        arriving = self._arriving
        if arriving is not None and arriving.task is not None:
            return arriving.abandon_body(refusal)
        if arriving is not None and arriving is not self._cycle:
            self._waiting.pop()
        elif arriving is not None or (self._cycle is None and not self._waiting):
            return self.refuse_and_close(refusal)
        # Responses are sent in the order of requests (RFC 9112, 9.3.2), and earlier ones are still due.
        self._last_refusal = refusal
        return None

    def refuse_and_close(self, refusal: Refusal) -> None:
        self._write_refusal(refusal)
        self._cycle = None
        self._linger()

    def _write_refusal(self, refusal: Refusal) -> None:
        body = refusal.body()
        head = head_lines(refusal.status, [JSON, (b"content-length", b"%d" % len(body)), *refusal.headers])
        self.write(head + CLOSE + self.clock.date_and_end + body)

    def _upgrade(self, rest: bytes) -> bytes:
        """Switch to WebSocket, or serve the request over HTTP.

        A server may ignore an upgrade that it does not offer (RFC 9110, 7.8): a new parser then gets the same
        head without the upgrade headers, and what followed. Returns the input for that parser.
        """
        parser = self._parser
        if parser.get_method() == b"CONNECT":
            self._refuse(Refusal(501, "CONNECT not supported: this server is not a proxy"))
            return b""
        if wants_upgrade(self._headers) and self._cycle is None:
            try:
                self._become_websocket(rest)
            except RequestRefused as error:
                self._refuse(error.refusal)
            return b""
        head = head_without_upgrade(parser.get_method(), self._url, parser.get_http_version(), self._headers)
        self._url, self._headers = b"", []
        self._parser = httptools.HttpRequestParser(self)
        return head + rest

    def _become_websocket(self, rest: bytes) -> None:
        scope = self._scope()
        upgrade = read_upgrade(scope["method"], scope["http_version"], self._headers)
        if isinstance(upgrade, Refusal):
            return self._refuse(upgrade)
        client = self._server.client_of(scope)
        turns = self._server.turns
        must_wait = self._server.newcomers.must_wait(client, WEBSOCKET_SECONDS)
        if must_wait and not turns.has_room(client):
            return self._refuse(TOO_FAST)
        socket = WebSocketConnection(self._server, self._transport, scope, upgrade, rest)
        self._server.replace(self, socket)
        self._transport.set_protocol(socket)
        # The parser refers to this connection: break the reference cycle.
        self._parser = None
        return socket.begin(must_wait)


def _address(transport: asyncio.BaseTransport, which: str) -> tuple[str, int] | None:
    address: Any = transport.get_extra_info(which)
    return (str(address[0]), int(address[1])) if isinstance(address, tuple) else None
