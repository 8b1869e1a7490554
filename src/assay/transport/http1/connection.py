"""One client's connection: requests come one after the other, and each has its turn."""

from __future__ import annotations

import asyncio
from collections import deque
from math import inf
from typing import TYPE_CHECKING, Any, Final

import httptools

from assay.protocol.http.asgi import AsgiScope
from assay.protocol.http.gate import JSON, Headers, Refusal
from assay.protocol.http.upgrade import read_upgrade, wants_upgrade

from .channel import Channel
from .head import CLOSE, lines
from .request import Unserved, addressed_to, expects_continue, head_without_wish, read_target, size_of_head
from .tls import tell_of_tls
from .turn import Turn
from .websocket import WebSocketConnection

if TYPE_CHECKING:
    from .house import House

CROWD: Final = 100
"""Connections beyond the limit that are told so; more of them are cut without a word."""
ASGI: Final = {"version": "3.0", "spec_version": "2.4"}


class Connection(Channel):
    """Speaks HTTP/1.1 on one side and ASGI on the other."""

    closing = False
    """The next answer is the last."""
    _turn: Turn | None = None
    _arriving: Turn | None = None
    """The request whose body is not all here."""
    _previous: asyncio.Task[None] | None = None
    _parting: Refusal | None = None
    """What is said last, when all requests before it have been answered."""
    _latest = 0
    """Bytes that came last."""
    _fruitless = 0
    """Bytes that have come without completing anything: an endless head, or trailer."""
    _url = b""

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self._house = house
        self.app = house.app
        self._head_bytes = house.limits.head_bytes
        self._waiting: deque[Turn] = deque()
        self._headers: Headers = []
        self._parser: Any = httptools.HttpRequestParser(self)

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._addresses: AsgiScope = {
            "server": _address(transport, "sockname"),
            "client": _address(transport, "peername"),
            "scheme": "http" if transport.get_extra_info("sslcontext") is None else "https",
            **tell_of_tls(transport),
        }
        self.due = self._patient(self.limits.head_timeout)
        surplus = self._house.admit(self)
        if surplus > CROWD:
            self.abort()
        elif surplus > 0:
            self._refuse(Refusal(503, "too many connections; try again later"))

    def connection_lost(self, error: Exception | None) -> None:
        self.lost = True
        for turn in (self._turn, self._arriving):
            if turn is not None:
                turn.wake()
        # What was begun may go on without its client.
        self._house.keep(self._previous)
        self._house.keep(None if self._turn is None else self._turn.task)
        self._house.forget(self)
        self._let_write()
        # The parser holds this connection, and would keep it in a circle.
        self._parser = self._turn = self._arriving = None
        self._waiting.clear()

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        self._latest = len(data)
        self._fruitless += self._latest
        while data:
            try:
                data = self._parser.feed_data(data)  # nothing is left over
            except httptools.HttpParserUpgrade as upgrade:
                data = self._upgrade(data[upgrade.args[0] :])
            except httptools.HttpParserError as error:
                return self._refuse(_fault(error))
        if self._arriving is not None or self._fruitless:
            self._go_on()

    def _go_on(self) -> None:
        """A request is not all here: it begins with what there is, once it has a head."""
        turn = self._arriving
        if turn is not None and turn is self._turn and turn.task is None:
            self._begin(turn)
        if turn is None and self._turn is None and self._fruitless:
            self.due = min(self.due, self._patient(self.limits.head_timeout))
        if self._fruitless > self._head_bytes:
            self._refuse(self._head_too_large().refusal)

    # What the parser calls

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value.rstrip()))

    def on_headers_complete(self) -> None:
        if self._fruitless + self._latest > self._head_bytes:
            self._measure_head()
        self._fruitless = 0
        parser = self._parser
        if parser.should_upgrade():
            return
        turn = Turn(self, self._scope(), parser.should_keep_alive())
        # A field after the body is no part of the head, and goes where nobody looks (RFC 9110, 6.5.1).
        self._url, self._headers = b"", []
        self._arriving = turn
        if self._turn is None:
            self._turn = turn
        else:
            self._waiting.append(turn)
            self._read_no_more()

    def on_body(self, part: bytes) -> None:
        self._fruitless = 0
        turn = self._arriving
        if turn is not None and not turn.take(part):
            self._read_no_more()

    def on_message_complete(self) -> None:
        self._fruitless = 0
        turn = self._arriving
        if turn is not None:
            self._arriving = None
            self._headers.clear()
            turn.complete()
            if turn is self._turn and turn.task is None:
                self._begin(turn)

    def _measure_head(self) -> None:
        """So that it does not matter in how many parts it came."""
        if size_of_head(self._url, self._headers) > self._head_bytes:
            raise self._head_too_large()

    def _head_too_large(self) -> Unserved:
        return Unserved(431, f"headers too large: limit {self._head_bytes} bytes")

    def _scope(self) -> AsgiScope:
        """
        Raises:
            Unserved: no application could do with this head.
        """
        path, raw_path, query, authority = read_target(self._url)
        if authority is not None:
            self._headers = addressed_to(authority, self._headers)
        parser = self._parser
        version = parser.get_http_version()
        if version != "1.1":
            self._bear_with(version)
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

    def _bear_with(self, version: str) -> None:
        if version != "1.0":
            raise Unserved(505, f"HTTP version not supported: {version}; send 1.1")
        # A client that would stay expects to hear so, in a header of that time: it is not worth it.
        self.closing = True

    # Turns

    def _begin(self, turn: Turn) -> None:
        self.due = inf
        if self._previous is not None and not self._previous.done():
            self._house.keep(self._previous)
        if not turn.arrived and expects_continue(turn.scope["http_version"], turn.scope["headers"]):
            turn.expect_continue()
        turn.task = self.loop.create_task(turn.run())

    def turn_ended(self, turn: Turn) -> None:
        """The response is written: the next request has its turn, or the connection has ended."""
        # The application may have something left to do, and the event loop would not hold it.
        self._previous = turn.task
        self._turn = None
        if not turn.keep_alive or self.closing:
            heard_out = turn.arrived and self._reading and not self._deaf
            return self._end() if heard_out else self._linger()
        if self.congested:
            # Whoever does not read its answers gets no further ones.
            return self._read_no_more()
        return self._next()

    def _next(self) -> None:
        if self._waiting:
            self._turn = self._waiting.popleft()
            if self._turn.arrived and not self._waiting:
                self.read_on()
            return self._begin(self._turn)
        if self._parting is not None:
            return self.dismiss(self._parting)
        self.due = self.clock.time + self.limits.keep_alive
        return None if self._reading else self.read_on()

    def _relieved(self) -> None:
        if self._turn is None:
            self._next()
        else:
            self.due = inf

    # For turns and for the house

    def finish(self) -> None:
        """Close as soon as nothing is under way."""
        self.closing = True
        if self._turn is None and not self._silent:
            self._end()

    def expire(self) -> None:
        """Patience has ended: with a silent client quietly, with one that stops half-way by telling it."""
        if self.congested or self._ended:
            self._give_up()
        elif self._fruitless and not self._deaf:
            self._refuse(Refusal(408, f"headers did not arrive within {self.limits.head_timeout:g} s"))
        else:
            self._end()

    def _refuse(self, refusal: Refusal) -> None:
        """What came is no request that the application could see: say so, and end the connection."""
        self._deaf = True
        arriving = self._arriving
        if arriving is not None and arriving.task is not None:
            return arriving.spoil(refusal)
        if arriving is not None and arriving is not self._turn:
            self._waiting.pop()
        elif arriving is not None or (self._turn is None and not self._waiting):
            return self.dismiss(refusal)
        # Others came first.
        self._parting = refusal
        return None

    def dismiss(self, refusal: Refusal) -> None:
        body = refusal.body()
        head = lines(refusal.status, [JSON, (b"content-length", b"%d" % len(body)), *refusal.headers])
        self.write(head + CLOSE + self.clock.date_and_end + body)
        self._turn = None
        self._linger()

    def _upgrade(self, rest: bytes) -> bytes:
        """Another protocol is asked for. One that is not offered, or not now, is ignored (RFC 9110, 7.8):
        a new parser gets the same request without the wish, and what followed. Returns what it gets."""
        parser = self._parser
        if parser.get_method() == b"CONNECT":
            self._refuse(Refusal(501, "CONNECT is for proxies, and this is none"))
            return b""
        if wants_upgrade(self._headers) and self._turn is None:
            try:
                self._become_websocket(rest)
            except Unserved as error:
                self._refuse(error.refusal)
            return b""
        head = head_without_wish(parser.get_method(), self._url, parser.get_http_version(), self._headers)
        self._url, self._headers = b"", []
        self._parser = httptools.HttpRequestParser(self)
        return head + rest

    def _become_websocket(self, rest: bytes) -> None:
        scope = self._scope()
        upgrade = read_upgrade(scope["method"], scope["http_version"], self._headers)
        if isinstance(upgrade, Refusal):
            return self._refuse(upgrade)
        socket = WebSocketConnection(self._house, self._transport, scope, upgrade, rest)
        self._house.replace(self, socket)
        self._transport.set_protocol(socket)
        # The parser holds this connection, and would keep it in a circle.
        self._parser = None
        return socket.begin()


def _fault(error: Exception) -> Refusal:
    """What to tell the client. What our own callbacks raise, comes as the context of the parser's error.

    Raises:
        Exception: the fault is ours.
    """
    cause = error.__context__
    if isinstance(cause, Unserved):
        return cause.refusal
    if cause is not None and isinstance(error, httptools.HttpParserCallbackError):
        raise cause
    return Refusal(400, f"not a valid HTTP request: {error or type(error).__name__}")


def _address(transport: asyncio.BaseTransport, which: str) -> tuple[str, int] | None:
    found: Any = transport.get_extra_info(which)
    return (str(found[0]), int(found[1])) if isinstance(found, tuple) else None
