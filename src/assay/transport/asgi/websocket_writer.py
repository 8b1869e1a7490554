"""The sending side of a WebSocket: in order, without waiting where possible, and bounded where not."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from types import CoroutineType
from typing import Any

from assay.model.limits import Limits
from assay.protocol.byte_budget import ByteShare
from assay.protocol.coroutine import SuspendedCoroutine
from assay.protocol.http.asgi import Transmit

from .close_reason import BUSY, TOO_SLOW, CloseReason
from .send import ImmediateTextSend


class WebSocketWriter:
    """Sends one message at a time. While a client does not read, further messages queue up; `give_up` is
    called when the queue is too large, the byte budget has no room for it, or one message takes longer than
    `write_timeout`."""

    def __init__(
        self,
        transmit: Transmit,
        limits: Limits,
        share: ByteShare,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        give_up: Callable[[CloseReason], None],
    ) -> None:
        self._transmit = transmit
        # Our own server can send a text message without being awaited; see `ImmediateTextSend`.
        self._try_send: Callable[[bytes], bool] = (
            transmit.try_send_text if isinstance(transmit, ImmediateTextSend) else _cannot_send_now
        )
        self._limits = limits
        self._share = share
        self._spawn = spawn
        self._give_up = give_up
        self._loop = asyncio.get_running_loop()
        self._busy = False
        self._queue: deque[tuple[bytes, asyncio.Future[None] | None]] = deque()
        self._queued_bytes = 0
        self._being_written = 0
        """Size of the message that the transport does not take yet."""
        self._stopped = False

    async def send(self, message: bytes) -> None:
        """Send, and return when the message is written, or at once after `stop`."""
        if self._busy:
            written = self._loop.create_future()
            self._enqueue(message, written)
            if not self._stopped:
                await written
        elif not self._stopped and not self._try_send(message):
            self._busy = True
            try:
                await self._write(message)
            finally:
                self._continue()

    def post(self, message: bytes) -> None:
        """Send a message without waiting for it."""
        if not self._busy and not self._stopped and self._try_send(message):
            return
        self._enqueue(message, None)
        if not self._busy and self._queue:
            self._busy = True
            self._continue()

    def stop(self) -> None:
        """Discard the queue and send nothing more; pending calls of `send` return."""
        self._stopped = True
        # They refer to the session, which refers to this writer: break the reference cycle.
        self._spawn = self._give_up = _not_called
        self._queued_bytes = 0
        self._share.release()
        while self._queue:
            _, written = self._queue.popleft()
            if written is not None and not written.done():
                written.set_result(None)

    async def close(self, code: int, reason: str, timeout: float) -> None:
        """Send a close frame, to a client that may no longer read or be connected."""
        self.stop()
        try:
            async with asyncio.timeout(timeout):
                await self._transmit({"type": "websocket.close", "code": code, "reason": reason})
        except (TimeoutError, OSError):
            pass

    def _enqueue(self, message: bytes, written: asyncio.Future[None] | None) -> None:
        if self._stopped:
            return
        self._queue.append((message, written))
        self._queued_bytes += len(message)
        if self._queued_bytes > self._limits.unread_bytes:
            self._give_up(TOO_SLOW)
        self._hold()

    def _hold(self) -> None:
        """Count what waits for the client."""
        if not self._share.resize(self._queued_bytes + self._being_written):
            self._give_up(BUSY)

    def _continue(self) -> None:
        if self._queue:
            self._spawn(self._write_queue())
        else:
            self._busy = False

    async def _write_queue(self) -> None:
        while self._queue:
            message, written = self._queue.popleft()
            self._queued_bytes -= len(message)
            await self._write(message)
            self._hold()
            if written is not None and not written.done():
                written.set_result(None)
        self._busy = False

    async def _write(self, message: bytes) -> None:
        sending: Any = self._transmit({"type": "websocket.send", "text": message.decode()})
        timeout: asyncio.TimerHandle | None = None
        try:
            if type(sending) is CoroutineType:
                # Step it by hand: a message that is written at once needs no timer.
                try:
                    sending = SuspendedCoroutine(sending, sending.send(None))
                except StopIteration:
                    return
            timeout = self._loop.call_later(self._limits.write_timeout, self._give_up, TOO_SLOW)
            self._being_written = len(message)
            self._hold()
            await sending
        except OSError:
            self.stop()  # the client is gone; the reading side gets the disconnect event
        finally:
            if timeout is not None:
                timeout.cancel()
                self._being_written = 0
                self._hold()


def _cannot_send_now(text: bytes) -> bool:
    return False


def _not_called(*_: object) -> None:
    """Replaces the callables of a writer that has stopped: it has nothing left to write."""
