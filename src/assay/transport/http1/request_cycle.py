"""One request and its response, as ASGI's `receive` and `send`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from assay.model.visible import visible_record
from assay.protocol.http.asgi import AsgiScope, Message
from assay.protocol.http.head_policy import Refusal
from assay.transport.asgi.send import WholeResponseSend

from .response_head import BODILESS, CHUNKED, CLOSE, CONTINUE, LAST_CHUNK, cached_head_lines, chunk, make_head

if TYPE_CHECKING:
    from .connection import HttpConnection

log: Final = logging.getLogger("assay.http")
log.addFilter(visible_record)

DISCONNECTED: Final[Message] = {"type": "http.disconnect"}
BUFFERED: Final = 64 * 1024
"""Bytes of a body that may wait for the application before reading pauses."""


class ClientDisconnected(ConnectionError):
    """The client has gone, so the response cannot be sent. ASGI requires an `OSError`."""


class RequestCycle(WholeResponseSend):
    """Serves one request of a connection. The object itself is ASGI's `send`."""

    # Defaults on the class: most requests are complete when they begin, and answered at once.
    arrived = False
    """The whole request has been received."""
    started = False
    """A response has begun."""
    answered = False
    task: asyncio.Task[None] | None = None
    _body: bytes | bytearray = b""
    _held = False
    """A large part of the body waits for the application, and counts in the byte budget."""
    _readable = False
    """`receive` has something to return."""
    _received = False
    _wakeup: asyncio.Future[None] | None = None
    _expects_continue = False
    _chunked = False
    _bodiless = False
    _left: int | None = None
    """Bytes of the declared length that are still to be sent."""
    _head = b""
    """The head of the response, held back until the first part of its body."""
    _body_refusal: Refusal | None = None

    def __init__(self, connection: HttpConnection, scope: AsgiScope, keep_alive: bool) -> None:
        self._connection = connection
        self.scope = scope
        self.keep_alive = keep_alive

    @property
    def is_watched(self) -> bool:
        """Whether the application waits for more of the request, or for the client to hang up."""
        return self._wakeup is not None

    def expect_continue(self) -> None:
        """The client waits for `100 Continue` before it sends its body."""
        self._expects_continue = True

    def take(self, part: bytes) -> bool:
        """Add a part of the body. False if reading should pause until the application has read it."""
        self._body = _joined(self._body, part) if self._body else part
        self._readable = True
        if self._wakeup is not None:
            self.wake()
        if len(self._body) < BUFFERED:
            return True
        self._held = True
        return False

    @property
    def size(self) -> int:
        """Bytes of the body that wait for the application."""
        return len(self._body)

    def complete(self) -> None:
        self.arrived = self._readable = True
        if self._wakeup is not None:
            self.wake()

    def abandon_body(self, refusal: Refusal) -> None:
        """The rest of the body cannot be read, because the input is malformed."""
        self._body_refusal = refusal
        self.wake()

    def wake(self) -> None:
        """Make a pending `receive` check its conditions again."""
        if self._wakeup is not None:
            wakeup, self._wakeup = self._wakeup, None
            if not wakeup.done():
                wakeup.set_result(None)

    async def run(self) -> None:
        """Call the application, and complete the response if it does not."""
        connection = self._connection
        try:
            await connection.app(self.scope, self.receive, self)
        except ClientDisconnected:
            return
        except Exception as error:
            level = logging.DEBUG if is_disconnect(error) else logging.ERROR
            log.log(level, "the application failed", exc_info=True)
        except asyncio.CancelledError:
            connection.abort()
            raise
        else:
            if not self.answered and not self._over:
                log.error("the application returned without a complete response")
        if not self.answered and not connection.lost:
            self._complete_response()

    def _complete_response(self) -> None:
        if self.started and not self._head:
            # Part of the response is sent. Aborting shows the client that it is incomplete.
            self._connection.abort()
        elif self._body_refusal is not None:
            self._connection.refuse_and_close(self._body_refusal)
        else:
            self.started = False  # the head was never written
            self.respond(500, (), b"")

    # The request

    def take_whole_body(self) -> bytes | None:
        if not self.arrived or not self._readable or self._received:
            return None
        self._readable = False
        if self._held:
            self._connection.taken()
        return self._body if type(self._body) is bytes else bytes(self._body)

    async def receive(self) -> Message:
        connection = self._connection
        while not (self._readable or self._over):
            if self._expects_continue:
                self._expects_continue = False
                connection.write(CONTINUE)
            if self._wakeup is None:
                self._wakeup = connection.loop.create_future()
            connection.resume_reading()
            await asyncio.shield(self._wakeup)
        if self._over:
            return DISCONNECTED
        if self._held:
            self._held = False
            connection.taken()
        body, self._body, self._readable, self._received = bytes(self._body), b"", False, True
        return {"type": "http.request", "body": body, "more_body": not self.arrived}

    @property
    def _over(self) -> bool:
        return self.answered or self._connection.lost or self._body_refusal is not None

    # The response

    def respond(self, status: int, headers: tuple[tuple[bytes, bytes], ...], body: bytes) -> None:
        """
        Raises:
            ClientDisconnected: the client has gone.
        """
        connection = self._connection
        if connection.lost:
            raise ClientDisconnected("the client has disconnected")
        if self.started:
            raise RuntimeError("a response has already begun")
        self.started = True
        ending = connection.clock.date_and_end
        if not self.keep_alive or not self.arrived or connection.closing:
            self.keep_alive = False
            ending = CLOSE + ending
        content = b"" if self.scope["method"] == "HEAD" else body
        # Head and body in one write: two would cost a second system call, and often a second packet.
        connection.write(
            b"%bcontent-length: %d\r\n%b%b" % (cached_head_lines(status, headers), len(body), ending, content)
        )
        self._end()

    async def __call__(self, message: Message) -> None:
        """ASGI's `send`."""
        connection = self._connection
        if connection.congested:
            await connection.drained()
        if connection.lost:
            raise ClientDisconnected("the client has disconnected")
        if message["type"] == "http.response.body" and self.started:
            return self._send_body(message.get("body", b""), message.get("more_body", False))
        if message["type"] == "http.response.start" and not self.started:
            return self._send_head(message["status"], message.get("headers", ()))
        raise RuntimeError(f"out of order: {message['type']}")

    def _send_head(self, status: int, headers: Collection[tuple[bytes, bytes]]) -> None:
        head = make_head(status, headers)
        self.started = True
        self._left = head.length
        self._bodiless = status in BODILESS or self.scope["method"] == "HEAD"
        if head.length is None and not self._bodiless:
            self._chunked = self.scope["http_version"] != "1.0"
        # Without a length or chunks, only the end of the connection ends the body (RFC 9112, 6.3).
        until_close = head.length is None and not self._bodiless and not self._chunked
        if head.closes or not self.arrived or until_close or self._connection.closing:
            # The unread rest of a request that was answered early would be taken for the next request.
            self.keep_alive = False
        lines = head.lines + (CHUNKED if self._chunked else b"") + (b"" if self.keep_alive else CLOSE)
        # ASGI requires that the head waits for the first part of the body; both are one write then.
        self._head = lines + (b"\r\n" if head.dated else self._connection.clock.date_and_end)

    def _send_body(self, part: bytes, more: bool) -> None:
        if self.answered:
            raise RuntimeError("the response is already complete")
        if self._bodiless:
            part = b""
        elif self._chunked:
            part = chunk(part) if more else chunk(part) + LAST_CHUNK
        elif self._left is not None:
            self._left -= len(part)
            if self._left < 0 or (self._left and not more):
                raise RuntimeError("the body is not as long as its content-length")
        if self._head:
            part, self._head = self._head + part, b""
            self._expects_continue = False  # the final status replaces `100 Continue`
        if part:
            self._connection.write(part)
        if not more:
            self._end()

    def _end(self) -> None:
        self.answered = True
        if self._wakeup is not None:
            self.wake()
        self._connection.cycle_ended(self)


def is_disconnect(error: BaseException | None) -> bool:
    """Whether an application failed only because its client disconnected; frameworks wrap that exception."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_disconnect, error.exceptions))
    while error is not None and not isinstance(error, ClientDisconnected):
        error = error.__cause__ or error.__context__
    return error is not None


def _joined(body: bytes | bytearray, part: bytes) -> bytearray:
    """Append to a growing buffer: joining `bytes` would be quadratic in the number of parts."""
    growing = body if isinstance(body, bytearray) else bytearray(body)
    growing += part
    return growing
