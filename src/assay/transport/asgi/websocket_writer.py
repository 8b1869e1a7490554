"""The sending side of a WebSocket: in order, without waiting where possible, and bounded where not."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from types import CoroutineType
from typing import Any

from assay.model.limits import Limits
from assay.protocol.http.asgi import Transmit
from assay.protocol.stepping import Resumed


class Writer:
    """Messages leave one at a time. A client that does not read makes the rest wait, and is given up when
    too much waits, or the same message for too long."""

    def __init__(
        self,
        transmit: Transmit,
        limits: Limits,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        give_up: Callable[[], None],
    ) -> None:
        self._transmit = transmit
        self._say: Callable[[bytes], bool] = getattr(transmit, "say", _cannot_say)  # see `DirectSocket`
        self._limits = limits
        self._spawn = spawn
        self._give_up = give_up
        self._loop = asyncio.get_running_loop()
        self._busy = False
        self._waiting: deque[tuple[bytes, asyncio.Future[None] | None]] = deque()
        self._waiting_bytes = 0
        self._stopped = False

    async def send(self, message: bytes) -> None:
        """Send, and return when the message has left; or at once when nobody is there any more."""
        if self._busy:
            turn = self._loop.create_future()
            self._line_up(message, turn)
            if not self._stopped:
                await turn
        elif not self._stopped and not self._say(message):
            self._busy = True
            try:
                await self._put(message)
            finally:
                self._go_on()

    def post(self, message: bytes) -> None:
        """Send what nobody waits for."""
        if not self._busy and not self._stopped and self._say(message):
            return
        self._line_up(message, None)
        if not self._busy and self._waiting:
            self._busy = True
            self._go_on()

    def stop(self) -> None:
        """Send nothing more; whoever waits for its turn goes on."""
        self._stopped = True
        self._waiting_bytes = 0
        while self._waiting:
            _, turn = self._waiting.popleft()
            if turn is not None and not turn.done():
                turn.set_result(None)

    async def close(self, code: int, reason: str, timeout: float) -> None:
        """Send the last words, to a client that may no longer read or be there."""
        self.stop()
        try:
            async with asyncio.timeout(timeout):
                await self._transmit({"type": "websocket.close", "code": code, "reason": reason})
        except (TimeoutError, OSError):
            pass

    def _line_up(self, message: bytes, turn: asyncio.Future[None] | None) -> None:
        if self._stopped:
            return
        self._waiting.append((message, turn))
        self._waiting_bytes += len(message)
        if self._waiting_bytes > self._limits.unread_bytes:
            self._give_up()

    def _go_on(self) -> None:
        if self._waiting:
            self._spawn(self._empty())
        else:
            self._busy = False

    async def _empty(self) -> None:
        while self._waiting:
            message, turn = self._waiting.popleft()
            self._waiting_bytes -= len(message)
            await self._put(message)
            if turn is not None and not turn.done():
                turn.set_result(None)
        self._busy = False

    async def _put(self, message: bytes) -> None:
        leaving: Any = self._transmit({"type": "websocket.send", "text": message.decode()})
        overdue: asyncio.TimerHandle | None = None
        try:
            if type(leaving) is CoroutineType:
                try:
                    leaving = Resumed(leaving, leaving.send(None))
                except StopIteration:
                    return
            overdue = self._loop.call_later(self._limits.write_timeout, self._give_up)
            await leaving
        except OSError:
            self.stop()  # the client is gone, and whoever receives will hear of it
        finally:
            if overdue is not None:
                overdue.cancel()


def _cannot_say(text: bytes) -> bool:
    return False
