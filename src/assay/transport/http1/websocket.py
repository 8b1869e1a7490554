"""One client's WebSocket: frames on one side, ASGI on the other.

It takes a connection over from HTTP once its upgrade was found proper. Whether the client gets its WebSocket
is for the application to say; until then nothing is read.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from enum import Enum
from math import inf
from typing import TYPE_CHECKING, Any, Final

from assay.protocol.framing.websocket import (
    BINARY,
    CLOSE,
    GOING_AWAY,
    INTERNAL,
    LOST,
    NO_CODE,
    NORMAL,
    PING,
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
from assay.protocol.http.upgrade import Upgrade, accept_key

from .head import CLOSE as END_OF_CONNECTION
from .head import lines
from .turn import ClientLeft

if TYPE_CHECKING:
    from .house import House

log: Final = logging.getLogger("assay.http")

WAITING: Final = 64 * 1024
"""Size of the messages that wait for the application, beyond which nothing more is read."""
ENTRY: Final = 256
"""What a message costs beside its text: a million empty ones are not for free."""
PARTING: Final = 5.0
"""Seconds that a client has to answer a close frame, or to stop sending what nobody reads."""
SCHEMES: Final = {"http": "ws", "https": "wss"}


class State(Enum):
    REQUESTED = "requested"
    """The application has yet to say whether the client may connect."""
    REFUSING = "refusing"
    OPEN = "open"
    CLOSING = "closing"
    """We have sent a close frame; the client has yet to answer."""
    OVER = "over"
    """Nothing more is sent, and what comes is ignored."""


class WebSocketConnection(asyncio.Protocol):
    """Made by the HTTP connection that it takes over from; `begin` follows at once."""

    def __init__(
        self, house: House, transport: asyncio.Transport, scope: AsgiScope, upgrade: Upgrade, rest: bytes
    ) -> None:
        self._house = house
        self._transport = transport
        self._loop = house.loop
        self._limits = house.limits
        self.due = inf
        """When patience with this client ends; the house looks now and then."""
        self._scope = websocket_scope(scope, upgrade)
        self._key = upgrade.key
        self._rest = rest
        self._state = State.REQUESTED
        self._reader = MessageReader(house.limits.message_bytes, masked=True)
        self._arrived: deque[Message] = deque([{"type": "websocket.connect"}])
        self._arrived_size = 0
        self._receiver: asyncio.Future[Message] | None = None
        self._disconnected: Message | None = None
        self._reading = True
        self._congested = False
        self._writable: asyncio.Future[None] | None = None
        self._unanswered: bytes | None = None
        """The latest ping that the client could not be answered, because it does not read."""
        self._heard = False
        self._pinged = False
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        self._read_no_more()
        self._task = self._loop.create_task(self._run())

    async def _run(self) -> None:
        """Let the application serve; whatever it leaves undone is made good here."""
        code = NORMAL
        try:
            await self._house.app(self._scope, self.receive, self)
        except ClientLeft:
            pass
        except Exception:
            log.exception("the application failed")
            code = INTERNAL
        except asyncio.CancelledError:
            self.abort()
            raise
        if self._state is State.REQUESTED:
            self._respond(500, [])
            self._linger()
        elif self._state is State.REFUSING:
            self.abort()  # half an answer cannot be taken back
        elif self._state is State.OPEN:
            self._close(code, "")

    # What the event loop calls

    def data_received(self, data: bytes) -> None:
        if self._state is State.OVER:
            return
        self._heard = True
        for received in self._reader.feed(data):
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

    def connection_lost(self, error: Exception | None) -> None:
        self._state = State.OVER
        self._house.forget(self)
        self._house.keep(self._task)
        self._disconnect(LOST, "")
        self.resume_writing()

    def pause_writing(self) -> None:
        self._congested = True
        if self._state is State.OPEN:
            self.due = self._house.clock.now() + self._limits.write_timeout

    def resume_writing(self) -> None:
        self._congested = False
        if self._state is State.OPEN:
            self._await_silence()
            if self._unanswered is not None:
                self._pong(self._unanswered)
        writable, self._writable = self._writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)

    # From the client

    def _deliver(self, event: Message, size: int) -> None:
        if self._state is not State.OPEN:
            return  # we have said goodbye
        receiver = self._receiver
        if receiver is not None and not receiver.done():
            receiver.set_result(event)
            return
        self._arrived.append(event)
        self._arrived_size += size + ENTRY
        if self._arrived_size > WAITING:
            self._read_no_more()

    def _pong(self, payload: bytes) -> None:
        # To a client that does not read, answers would pile up: it gets one, to its latest ping, which is
        # enough (RFC 6455, 5.5.3).
        self._unanswered = payload
        if self._state is State.OPEN and not self._congested:
            self._unanswered = None
            self._transport.write(frame(PONG, payload))

    def _answer_close(self, close: Close) -> None:
        if self._state is State.OPEN:
            # An answer repeats the code.
            self._transport.write(frame(CLOSE, b"") if close.code == NO_CODE else close_frame(close.code))
        self._disconnect(close.code, close.reason)
        self._leave()

    def _fail(self, violation: Violation) -> None:
        if self._state is State.OPEN:
            self._transport.write(close_frame(*violation))
        self._disconnect(*violation)
        self._linger()

    def _disconnect(self, code: int, reason: str) -> None:
        """Tell the application, after all that came before."""
        if self._disconnected is None:
            self._disconnected = {"type": "websocket.disconnect", "code": code, "reason": reason}
            if self._receiver is not None and not self._receiver.done():
                self._receiver.set_result(self._disconnected)

    # For the application

    async def receive(self) -> Message:
        if self._arrived:
            event = self._arrived.popleft()
            if not self._arrived:
                self._arrived_size = 0
                if not self._reading and self._state is not State.REQUESTED:
                    self._read_on()
            return event
        if self._disconnected is not None:
            return self._disconnected
        self._receiver = self._loop.create_future()
        return await self._receiver

    def say(self, text: bytes) -> bool:
        """Send a text message, if that can be done at once; see `DirectSocket`."""
        if self._congested or self._state is not State.OPEN:
            return False
        self._transport.write(text_frame(text))
        return True

    async def __call__(self, message: Message) -> None:
        """ASGI's `send`."""
        kind = message["type"]
        # Last words do not wait: whoever does not read will not hear them, and is cut off soon.
        if self._congested and kind != "websocket.close":
            await self._drained()
        if kind == "websocket.send" and self._state is State.OPEN:
            text = message.get("text")
            data = frame(BINARY, message["bytes"]) if text is None else text_frame(text.encode())
            self._transport.write(data)
            return
        if self._state in (State.CLOSING, State.OVER):
            raise ClientLeft("the client has left")
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
        headers = [(b"upgrade", b"websocket"), (b"sec-websocket-accept", accept_key(self._key))]
        if message.get("subprotocol") is not None:
            headers.append((b"sec-websocket-protocol", message["subprotocol"].encode("ascii")))
        head = lines(101, [*headers, *message.get("headers", ())])
        self._transport.write(head + b"connection: Upgrade\r\n\r\n")
        self._state = State.OPEN
        self._await_silence()
        self._read_on()
        if self._rest:
            self.data_received(self._rest)

    def decline(self, message: Message) -> None:
        self._respond(403, [(b"content-length", b"0")])
        self._linger()

    def start_response(self, message: Message) -> None:
        self._respond(message["status"], message.get("headers", ()))

    def go_on_responding(self, message: Message) -> None:
        self._transport.write(message.get("body", b""))
        if not message.get("more_body", False):
            self._linger()

    def close(self, message: Message) -> None:
        self._close(message.get("code", NORMAL), message.get("reason") or "")

    def _respond(self, status: int, headers: Any) -> None:
        self._state = State.REFUSING
        self._transport.write(
            lines(status, list(headers)) + END_OF_CONNECTION + self._house.clock.date_and_end
        )

    def _close(self, code: int, reason: str) -> None:
        self._transport.write(close_frame(code, reason))
        self._state = State.CLOSING
        self._disconnect(code, reason)
        self._arrived.clear()
        self._read_on()
        self.due = self._house.clock.now() + PARTING

    # For the house

    def expire(self) -> None:
        """Patience has ended: with a client that does not read or does not part, or with a silent one."""
        if self._congested or self._state is not State.OPEN or (self._pinged and not self._heard):
            return self.abort()
        if self._heard or self._pinged:
            return self._await_silence()
        self._pinged = True
        self._transport.write(frame(PING, b""))
        self.due = self._house.clock.now() + self._limits.ping_timeout

    def finish(self) -> None:
        """The application has been told to end, and has: what is left is cut soon."""
        if self._state is State.OPEN:
            self._close(GOING_AWAY, "the server is stopping")

    def abort(self) -> None:
        self.due = inf
        self._transport.abort()

    def _await_silence(self) -> None:
        self._heard = self._pinged = False
        interval = self._limits.ping_interval
        self.due = inf if interval is None else self._house.clock.now() + interval

    def _read_on(self) -> None:
        if not self._reading:
            self._reading = True
            self._transport.resume_reading()

    def _read_no_more(self) -> None:
        if self._reading:
            self._reading = False
            self._transport.pause_reading()

    def _leave(self) -> None:
        """Close, and do not wait for ever until the last words have left."""
        self._state = State.OVER
        self.due = self._house.clock.now() + PARTING
        self._transport.close()

    def _linger(self) -> None:
        """Let the client finish speaking before the connection ends: a reset might overtake our words."""
        self._state = State.OVER
        self.due = self._house.clock.now() + PARTING
        self._read_on()
        if self._transport.can_write_eof():
            self._transport.write_eof()
        else:
            self._transport.close()


STEPS: Final[dict[tuple[State, str], Callable[[WebSocketConnection, Message], None]]] = {
    (State.REQUESTED, "websocket.accept"): WebSocketConnection.accept,
    (State.REQUESTED, "websocket.close"): WebSocketConnection.decline,
    (State.REQUESTED, "websocket.http.response.start"): WebSocketConnection.start_response,
    (State.REFUSING, "websocket.http.response.body"): WebSocketConnection.go_on_responding,
    (State.OPEN, "websocket.close"): WebSocketConnection.close,
}
"""What the application may send when, besides messages."""


def websocket_scope(scope: AsgiScope, upgrade: Upgrade) -> AsgiScope:
    given = {name: value for name, value in scope.items() if name != "method"}
    return {
        **given,
        "type": "websocket",
        "scheme": SCHEMES[scope["scheme"]],
        "subprotocols": list(upgrade.subprotocols),
        "extensions": {**scope.get("extensions", {}), "websocket.http.response": {}},
    }
