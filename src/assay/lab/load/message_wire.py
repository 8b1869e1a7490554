"""What stdio and WebSocket have in common: whole messages, and many requests at once on one connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import UNSET

from .answer import Answer, error_of, read_answer, token_of
from .error_kind import INVALID, RESET, TIMEOUT
from .operation import FIRST_ID, Operation
from .wire import OpeningFailed, Receiver, WireSettings, now, opening_messages, within

CAPACITY: Final = 64
_NOT_FOUND: Final = -32601


class Exchange:
    """A request in progress."""

    __slots__ = ("intended", "operation", "previous", "sent")

    def __init__(self, operation: Operation, intended: int, sent: int) -> None:
        self.operation = operation
        self.intended = intended
        self.sent = sent
        self.previous = 0


class MessageWire:
    """A subclass connects, and passes on each message of the server to `take`."""

    capacity = CAPACITY
    lost_session = False
    process_id: int | None = None

    def __init__(self, settings: WireSettings, receiver: Receiver) -> None:
        self._settings = settings
        self._receiver = receiver
        self._next_id = FIRST_ID
        self._pending: dict[int, Exchange] = {}
        self._write: Callable[[bytes], None] | None = None
        """Writes one message; None while there is no connection."""
        self._opening: asyncio.Future[str | None] | None = None
        self._messages = {name: each.parts for name, each in settings.operations.items()}

    @property
    def in_flight(self) -> int:
        return len(self._pending)

    @property
    def is_usable(self) -> bool:
        return self._write is not None and len(self._pending) < self.capacity

    async def open(self) -> None:
        self.abort()
        await within(self._settings.timeout, self._connect())
        request, notification = opening_messages(self._settings.revision)
        self._opening = asyncio.get_running_loop().create_future()
        self._put(request)
        try:
            error = await within(self._settings.timeout, self._opening)
        finally:
            self._opening = None
        if error is not None:
            raise OpeningFailed(error)
        self._next_id = FIRST_ID
        if notification is not None:
            self._put(notification)

    async def reconnect(self) -> None:
        """The connection is the session."""
        await self.open()

    def refresh(self) -> None:
        """Nothing to do: a token is sent when the connection opens."""

    async def _connect(self) -> None:
        raise NotImplementedError

    def _put(self, message: bytes) -> None:
        if self._write is not None:
            self._write(message)

    def send(self, operation: Operation, intended: int) -> None:
        self._next_id += 1
        number = self._next_id
        self._pending[number] = Exchange(operation, intended, now())
        self._put(str(number).encode().join(self._messages[operation.name]))

    def expire(self, before: int) -> None:
        late = [number for number, exchange in self._pending.items() if exchange.sent < before]
        for number in late:
            self._settle(number, now(), TIMEOUT)

    def _settle(self, number: int, at: int, error: str | None) -> None:
        exchange = self._pending.pop(number)
        self._receiver.completed(self, exchange.operation, exchange.intended, at, error)

    def abort(self) -> None:
        self._write = None
        self.lost(RESET)

    def lost(self, error: str) -> None:
        """The connection has ended: so have all requests."""
        self._write = None
        if self._opening is not None and not self._opening.done():
            self._opening.set_result(error)
        for number in list(self._pending):
            self._settle(number, now(), error)

    async def close(self) -> None:
        self.abort()

    def take(self, message: bytes) -> None:
        at = now()
        answer = read_answer(message)
        if answer is None:
            self._take_unreadable(at)
        elif answer.method is not UNSET:
            self._take_other(answer, message, at)
        elif self._opening is not None:
            if not self._opening.done():
                self._opening.set_result(error_of(answer, FIRST_ID))
        elif isinstance(answer.id, int) and answer.id in self._pending:
            self._settle(answer.id, at, error_of(answer, answer.id))
        elif self._pending and answer.id is None:
            self._settle(next(iter(self._pending)), at, error_of(answer, 0))

    def _take_unreadable(self, at: int) -> None:
        """It can only be blamed on the oldest request."""
        if self._opening is not None and not self._opening.done():
            self._opening.set_result(INVALID)
        elif self._pending:
            self._settle(next(iter(self._pending)), at, INVALID)

    def _take_other(self, answer: Answer, message: bytes, at: int) -> None:
        if answer.id is not None:
            self._reply(answer)
        elif answer.method == "notifications/progress":
            token = token_of(message)
            exchange = self._pending.get(token) if isinstance(token, int) else None
            if exchange is not None:
                self._receiver.message(exchange.operation, exchange.sent, exchange.previous, at, message)
                exchange.previous = at

    def _reply(self, request: Answer) -> None:
        """A server may ping; the generator can do nothing else."""
        error = {"code": _NOT_FOUND, "message": "the load generator has no such method"}
        body = {"result": {}} if request.method == "ping" else {"error": error}
        self._put(msgspec.json.encode({"jsonrpc": "2.0", "id": request.id, **body}))
