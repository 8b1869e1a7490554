"""A WebSocket connection: frames to the client, ASGI to the application.

It takes over from the HTTP connection after a valid upgrade request. The application decides whether to
accept the client; nothing is read until then.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Hashable
from math import inf
from typing import TYPE_CHECKING, Any, Final

from assay.model.error import STOPPING
from assay.model.visible import visible_record
from assay.protocol.framing.websocket import (
    BINARY,
    CLOSE,
    GOING_AWAY,
    INTERNAL,
    LOST,
    NO_CODE,
    NORMAL,
    PING,
    POLICY,
    PONG,
    Close,
    MessageReader,
    Ping,
    Violation,
    close_frame,
    frame,
    text_frame,
)
from assay.protocol.http.asgi import AsgiScope, Message
from assay.protocol.http.upgrade import Upgrade
from assay.transport.asgi.send import ImmediateTextSend

from .paced_input import PacedInput
from .request_cycle import ClientDisconnected
from .websocket_state import (
    CLOSE_TIMEOUT,
    ENTRY_BYTES,
    NO_ROOM,
    QUEUE_BYTES,
    TOO_MUCH,
    SocketState,
    accept_head,
    refusal_lines,
    websocket_scope,
)

if TYPE_CHECKING:
    from .server_state import ServerState

log: Final = logging.getLogger("assay.http")
log.addFilter(visible_record)


class WebSocketConnection(asyncio.Protocol, ImmediateTextSend):
    """Replaces the HTTP connection, which creates it and calls `begin`. It is also ASGI's `send`."""

    def __init__(
        self,
        server: ServerState,
        transport: asyncio.Transport,
        scope: AsgiScope,
        upgrade: Upgrade,
        rest: bytes,
    ) -> None:
        self._server, self._transport = server, transport
        self._loop, self._limits = server.loop, server.limits
        self.deadline = inf
        """When `expire` is called; the server state checks it once per sweep."""
        self._scope, self._key, self._rest = websocket_scope(scope, upgrade), upgrade.key, rest
        self._state = SocketState.REQUESTED
        self._reader = MessageReader(server.limits.message_bytes, masked=True)
        self._client = client = server.client_of(scope)
        self._arriving = server.share(client)
        """The message in progress, and those that wait for the application."""
        self._unread = server.share(client)
        self._message_deadline = inf
        """When the message in progress must have arrived."""
        self._queue: deque[Message] = deque([{"type": "websocket.connect"}])
        self._queued_bytes = 0
        self._receiver: asyncio.Future[Message] | None = None
        self._disconnected: Message | None = None
        self._input = PacedInput(transport, server.time_shares, server.turns, client)
        self._congested = False
        self._writable: asyncio.Future[None] | None = None
        self._unanswered: bytes | None = None
        """Payload of the latest ping whose pong waits, because the client does not read."""
        self._active_at = -inf
        """When something was received, at the precision of a sweep, since the ping timer started."""
        self._pinged = False
        self._task: asyncio.Task[None] | None = None

    def begin(self, must_wait: bool = False) -> None:
        self._pause_reading()
        if not (must_wait and self._server.turns.join(self._client, self)):
            self.take_turn()

    def take_turn(self) -> None:
        if self._state is not SocketState.CLOSED:
            self._task = self._loop.create_task(self._run())

    async def _run(self) -> None:
        """Call the application, and close the connection if it does not."""
        code = NORMAL
        try:
            await self._server.app(self._scope, self.receive, self)
        except ClientDisconnected:
            pass
        except Exception:
            log.exception("the application failed")
            code = INTERNAL
        except asyncio.CancelledError:
            self.abort()
            raise
        if self._state is SocketState.REQUESTED:
            self._respond(500, [])
            self._linger()
        elif self._state is SocketState.REFUSING:
            self.abort()  # part of the response is sent, and cannot be taken back
        elif self._state is SocketState.OPEN:
            self._close(code, "")

    # Called by the event loop

    def data_received(self, data: bytes) -> None:
        if self._state is not SocketState.CLOSED:
            self._active_at = self._server.clock.time
            self._input.receive(data, self)

    def handle_input(self, data: bytes) -> None:
        reader = self._reader
        for received in reader.feed(data):
            if type(received) is str:
                self._deliver({"type": "websocket.receive", "text": received}, len(received))
            elif type(received) is bytes:
                self._deliver({"type": "websocket.receive", "bytes": received}, len(received))
            elif isinstance(received, Ping):
                self._pong(received.payload)
            elif isinstance(received, Close):
                self._answer_close(received)
            elif isinstance(received, Violation):
                self._fail(received)
        if not reader.is_between or self._arriving.size:
            self._on_incomplete()

    def _on_incomplete(self) -> None:
        """A message has not fully arrived, or others wait for the application."""
        if self._state is SocketState.CLOSED:
            return
        if self._reader.is_between:
            self._message_deadline = inf
        elif self._message_deadline == inf and self._input.reading:
            self._message_deadline = self._server.clock.now() + self._limits.body_timeout
            self.deadline = min(self.deadline, self._message_deadline)
        if not self._arriving.resize(self._reader.expected + self._queued_bytes):
            self._fail(NO_ROOM)

    def wait_too_long(self) -> None:
        if self._state is not SocketState.CLOSED:
            self._fail(TOO_MUCH)

    def connection_lost(self, error: Exception | None) -> None:
        self._stop_reading()
        self._server.remove(self)
        self._server.keep_task(self._task)
        self._task = None  # its exception may refer to this connection
        self._disconnect(LOST, "")
        self.resume_writing()

    def pause_writing(self) -> None:
        self._congested = True
        if self._state is SocketState.OPEN:
            self.deadline = self._server.clock.now() + self._limits.write_timeout
        if not self._unread.resize(self._transport.get_write_buffer_size()):
            self._loop.call_soon(self.abort)

    def resume_writing(self) -> None:
        self._congested = False
        self._unread.release()
        if self._state is SocketState.OPEN:
            self._restart_ping_timer()
            if self._unanswered is not None:
                self._pong(self._unanswered)
        writable, self._writable = self._writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)

    # From the client

    def _deliver(self, event: Message, size: int) -> None:
        self._message_deadline = inf
        if self._state is not SocketState.OPEN:
            return  # we have sent a close frame
        receiver, self._receiver = self._receiver, None  # it would hold the message
        if receiver is not None and not receiver.done():
            receiver.set_result(event)
            return
        self._queue.append(event)
        self._queued_bytes += size + ENTRY_BYTES
        if self._queued_bytes > QUEUE_BYTES:
            self._pause_reading()
            self._on_incomplete()

    def _pong(self, payload: bytes) -> None:
        # Pongs to a client that does not read would pile up. Answering its latest ping is enough
        # (RFC 6455, 5.5.3).
        self._unanswered = payload
        if self._state is SocketState.OPEN and not self._congested:
            self._unanswered = None
            self._transport.write(frame(PONG, payload))

    def _answer_close(self, close: Close) -> None:
        if self._state is SocketState.OPEN:
            self._transport.write(frame(CLOSE, b"") if close.code == NO_CODE else close_frame(close.code))
        self._disconnect(close.code, close.reason)
        self._close_transport()

    def _fail(self, violation: Violation) -> None:
        if self._state is SocketState.OPEN:
            self._transport.write(close_frame(*violation))
        self._disconnect(*violation)
        self._linger()

    def _disconnect(self, code: int, reason: str) -> None:
        """Queue the disconnect event behind all messages."""
        if self._disconnected is None:
            self._disconnected = {"type": "websocket.disconnect", "code": code, "reason": reason}
            if self._receiver is not None and not self._receiver.done():
                self._receiver.set_result(self._disconnected)

    # Called by the application

    async def receive(self) -> Message:
        if self._queue:
            event = self._queue.popleft()
            if not self._queue:
                self._queued_bytes = 0
                if self._arriving.size:
                    self._on_incomplete()
                if not self._input.reading and self._state is not SocketState.REQUESTED:
                    self._resume_reading()
            return event
        if self._disconnected is not None:
            return self._disconnected
        self._receiver = self._loop.create_future()
        return await self._receiver

    def try_send_text(self, text: bytes) -> bool:
        if self._congested or self._state is not SocketState.OPEN:
            return False
        self._transport.write(text_frame(text))
        return True

    async def __call__(self, message: Message) -> None:
        """ASGI's `send`."""
        kind = message["type"]
        if self._congested and kind != "websocket.close":  # a client that does not read is cut off soon
            await self._drained()
        if kind == "websocket.send" and self._state is SocketState.OPEN:
            text = message.get("text")
            data = frame(BINARY, message["bytes"]) if text is None else text_frame(text.encode())
            self._transport.write(data)
            return
        if self._state in (SocketState.CLOSING, SocketState.CLOSED):
            raise ClientDisconnected("the client has disconnected")
        step = STEPS.get((self._state, kind))
        if step is None:
            raise RuntimeError(f"out of order: {kind}")
        step(self, message)

    async def _drained(self) -> None:
        while self._congested:
            if self._writable is None:
                self._writable = self._loop.create_future()
            await asyncio.shield(self._writable)

    def accept(self, message: Message) -> None:
        self._transport.write(accept_head(self._key, message))
        self._state = SocketState.OPEN
        self._restart_ping_timer()
        self._resume_reading()
        rest, self._rest = self._rest, b""
        if rest:
            self.data_received(rest)

    def decline(self, message: Message) -> None:
        self._respond(403, [(b"content-length", b"0")])
        self._linger()

    def start_response(self, message: Message) -> None:
        self._respond(message["status"], message.get("headers", ()))

    def continue_response(self, message: Message) -> None:
        self._transport.write(message.get("body", b""))
        if not message.get("more_body", False):
            self._linger()

    def close(self, message: Message) -> None:
        self._close(message.get("code", NORMAL), message.get("reason") or "")

    def _respond(self, status: int, headers: Any) -> None:
        self._state = SocketState.REFUSING
        self._transport.write(refusal_lines(status, headers) + self._server.clock.date_and_end)

    def _close(self, code: int, reason: str) -> None:
        self._transport.write(close_frame(code, reason))
        self._state = SocketState.CLOSING
        self._disconnect(code, reason)
        self._queue.clear()
        self._queued_bytes = 0
        self._resume_reading()
        self.deadline = self._server.clock.now() + CLOSE_TIMEOUT

    # Called by the server state

    def expire(self) -> None:
        """Cut a client that does not read, close or answer a ping in time; ping a silent one."""
        if self._message_deadline <= self._server.clock.now() and self._state is SocketState.OPEN:
            seconds = self._limits.body_timeout
            return self._fail(Violation(POLICY, f"message did not arrive within {seconds:g} s"))
        if self._congested or self._state is not SocketState.OPEN or (self._pinged and self._active_at < 0):
            return self.abort()
        if self._active_at >= 0 or self._pinged:
            return self._restart_ping_timer()
        self._pinged = True
        self._transport.write(frame(PING, b""))
        pong_until = self._server.clock.now() + self._limits.ping_timeout
        self.deadline = min(pong_until, self._message_deadline)

    def active_client(self, since: float) -> Hashable | None:
        return self._client if self._active_at >= since else None

    def wind_down(self) -> None:
        """Nothing to do: the application closes the connection after its messages in progress."""

    def finish(self) -> None:
        """Close a connection that the application has left open although the server is stopping."""
        if self._state is SocketState.OPEN:
            self._close(GOING_AWAY, STOPPING)

    def abort(self) -> None:
        self.deadline = inf
        self._transport.abort()

    def _restart_ping_timer(self) -> None:
        self._active_at, self._pinged = -inf, False
        interval = self._limits.ping_interval
        ping_at = inf if interval is None else self._server.clock.now() + interval
        self.deadline = min(ping_at, self._message_deadline)

    def _resume_reading(self) -> None:
        if not self._input.reading:
            self._input.resume()
            self._on_incomplete()

    def _pause_reading(self) -> None:
        if self._input.reading:
            self._message_deadline = inf  # the client cannot send the rest
            self._input.pause()

    def _stop_reading(self) -> None:
        self._state = SocketState.CLOSED
        self._message_deadline = inf
        self._reader.drop()
        self._input.drop()
        self._arriving.release()

    def _close_transport(self) -> None:
        """Close once the write buffer is empty, or at the deadline."""
        self._stop_reading()
        self.deadline = self._server.clock.now() + CLOSE_TIMEOUT
        self._transport.close()

    def _linger(self) -> None:
        """Close our half and read on: closing at once could reset the connection before the client has read
        our last frame or response (RFC 9112, 9.6)."""
        self._stop_reading()
        self.deadline = self._server.clock.now() + CLOSE_TIMEOUT
        self._resume_reading()
        if self._transport.can_write_eof():
            self._transport.write_eof()
        else:
            self._transport.close()


STEPS: Final[dict[tuple[SocketState, str], Callable[[WebSocketConnection, Message], None]]] = {
    (SocketState.REQUESTED, "websocket.accept"): WebSocketConnection.accept,
    (SocketState.REQUESTED, "websocket.close"): WebSocketConnection.decline,
    (SocketState.REQUESTED, "websocket.http.response.start"): WebSocketConnection.start_response,
    (SocketState.REFUSING, "websocket.http.response.body"): WebSocketConnection.continue_response,
    (SocketState.OPEN, "websocket.close"): WebSocketConnection.close,
}
"""What the application may send in which state, besides messages."""
