"""One request and its response: what the application receives, and what it sends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from assay.protocol.http.asgi import AsgiScope, Message
from assay.protocol.http.gate import Refusal

from .head import BODILESS, CHUNKED, CLOSE, CONTINUE, LAST_CHUNK, chunk, lines_again, make_head

if TYPE_CHECKING:
    from .connection import Connection

log: Final = logging.getLogger("assay.http")

DISCONNECTED: Final[Message] = {"type": "http.disconnect"}
BUFFERED: Final = 64 * 1024
"""Bytes of a body that wait for the application before the connection is no longer read."""


class ClientLeft(ConnectionError):
    """There is nobody to send to; ASGI wants an `OSError`."""


class Turn:
    """The turn of one request on its connection. The turn itself is ASGI's `send`."""

    # Defaults on the class: most requests are whole when they begin, and answered at once.
    arrived = False
    """The whole request is here."""
    started = False
    """A response has begun."""
    answered = False
    task: asyncio.Task[None] | None = None
    _body: bytes | bytearray = b""
    _news = False
    _received = False
    _alarm: asyncio.Future[None] | None = None
    _expects_continue = False
    _chunked = False
    _mute = False
    _left: int | None = None
    _held = b""
    _spoilt: Refusal | None = None

    def __init__(self, connection: Connection, scope: AsgiScope, keep_alive: bool) -> None:
        self._connection = connection
        self.scope = scope
        self.keep_alive = keep_alive

    def expect_continue(self) -> None:
        """The client holds its body back until it is asked for."""
        self._expects_continue = True

    def take(self, part: bytes) -> bool:
        """A part of the body has come; false when the application should catch up first."""
        self._body = _joined(self._body, part) if self._body else part
        self._news = True
        if self._alarm is not None:
            self.wake()
        return len(self._body) < BUFFERED

    def complete(self) -> None:
        self.arrived = self._news = True
        if self._alarm is not None:
            self.wake()

    def spoil(self, refusal: Refusal) -> None:
        """The rest of the body will never come, because what came instead is no body."""
        self._spoilt = refusal
        self.wake()

    def wake(self) -> None:
        """Let whoever receives look again."""
        if self._alarm is not None:
            alarm, self._alarm = self._alarm, None
            if not alarm.done():
                alarm.set_result(None)

    async def run(self) -> None:
        """Let the application answer; whatever it leaves undone is made good here."""
        connection = self._connection
        try:
            await connection.app(self.scope, self.receive, self)
        except ClientLeft:
            return
        except Exception as error:
            level = logging.DEBUG if is_departure(error) else logging.ERROR
            log.log(level, "the application failed", exc_info=True)
        except asyncio.CancelledError:
            connection.abort()
            raise
        else:
            if not self.answered and not self._over:
                log.error("the application returned without an answer, or with half of one")
        if not self.answered and not connection.lost:
            self._make_good()

    def _make_good(self) -> None:
        if self.started and not self._held:
            # Half an answer cannot be taken back: the client must see that it is not whole.
            self._connection.abort()
        elif self._spoilt is not None:
            self._connection.dismiss(self._spoilt)
        else:
            self.started = False  # what is still held was never said
            self.answer(500, (), b"")

    # The request

    @property
    def whole(self) -> bytes | None:
        """The body, if all of it is here and nothing has been received; else receive it."""
        if not self.arrived or not self._news or self._received:
            return None
        self._news = False
        return self._body if type(self._body) is bytes else bytes(self._body)

    async def receive(self) -> Message:
        connection = self._connection
        while not (self._news or self._over):
            if self._expects_continue:
                self._expects_continue = False
                connection.write(CONTINUE)
            if self._alarm is None:
                self._alarm = connection.loop.create_future()
            connection.read_on()
            await asyncio.shield(self._alarm)
        if self._over:
            return DISCONNECTED
        body, self._body, self._news, self._received = bytes(self._body), b"", False, True
        return {"type": "http.request", "body": body, "more_body": not self.arrived}

    @property
    def _over(self) -> bool:
        return self.answered or self._connection.lost or self._spoilt is not None

    # The response

    def answer(self, status: int, headers: tuple[tuple[bytes, bytes], ...], body: bytes) -> None:
        """Send a whole response at once; its length is added to its headers.

        Raises:
            ClientLeft: there is nobody to read it.
        """
        connection = self._connection
        if connection.lost:
            raise ClientLeft("the client has left")
        if self.started:
            raise RuntimeError("a response has already begun")
        self.started = True
        ending = connection.clock.date_and_end
        if not self.keep_alive or not self.arrived or connection.closing:
            self.keep_alive = False
            ending = CLOSE + ending
        shown = b"" if self.scope["method"] == "HEAD" else body
        connection.write(
            b"%bcontent-length: %d\r\n%b%b" % (lines_again(status, headers), len(body), ending, shown)
        )
        self._end()

    async def __call__(self, message: Message) -> None:
        """ASGI's `send`."""
        connection = self._connection
        if connection.congested:
            await connection.drained()
        if connection.lost:
            raise ClientLeft("the client has left")
        if message["type"] == "http.response.body" and self.started:
            return self._send_body(message.get("body", b""), message.get("more_body", False))
        if message["type"] == "http.response.start" and not self.started:
            return self._send_head(message["status"], message.get("headers", ()))
        raise RuntimeError(f"out of order: {message['type']}")

    def _send_head(self, status: int, headers: Collection[tuple[bytes, bytes]]) -> None:
        head = make_head(status, headers)
        self.started = True
        self._left = head.length
        self._mute = status in BODILESS or self.scope["method"] == "HEAD"
        if head.length is None and not self._mute:
            self._chunked = self.scope["http_version"] != "1.0"
        endless = head.length is None and not self._mute and not self._chunked
        if head.closes or not self.arrived or endless or self._connection.closing:
            # The rest of a request that was answered early would be in the way of the next one.
            self.keep_alive = False
        said = head.lines + (CHUNKED if self._chunked else b"") + (b"" if self.keep_alive else CLOSE)
        # It waits for the first part of its body (ASGI wants that), and so takes no write of its own.
        self._held = said + (b"\r\n" if head.dated else self._connection.clock.date_and_end)

    def _send_body(self, part: bytes, more: bool) -> None:
        if self.answered:
            raise RuntimeError("the response is already complete")
        if self._mute:
            part = b""
        elif self._chunked:
            part = chunk(part) if more else chunk(part) + LAST_CHUNK
        elif self._left is not None:
            self._left -= len(part)
            if self._left < 0 or (self._left and not more):
                raise RuntimeError("the body is not as long as its content-length")
        if self._held:
            part, self._held = self._held + part, b""
            self._expects_continue = False  # nobody need send what will not be read
        if part:
            self._connection.write(part)
        if not more:
            self._end()

    def _end(self) -> None:
        self.answered = True
        if self._alarm is not None:
            self.wake()
        self._connection.turn_ended(self)


def is_departure(error: BaseException | None) -> bool:
    """Whether an application failed only because its client left; frameworks wrap that in errors."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_departure, error.exceptions))
    while error is not None and not isinstance(error, ClientLeft):
        error = error.__cause__ or error.__context__
    return error is not None


def _joined(body: bytes | bytearray, part: bytes) -> bytearray:
    """One that can grow: thousands of small parts, each copied with all before it, would take seconds."""
    growing = body if isinstance(body, bytearray) else bytearray(body)
    growing += part
    return growing
