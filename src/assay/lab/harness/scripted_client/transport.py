"""The interface that each transport of the scripted client implements."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from msgspec import Struct

from .failure import ConnectionBroken

Json = dict[str, Any]


class PendingCall(Struct):
    """A request that waits for its answer."""

    id: Any
    method: str
    answer: asyncio.Future[Json]
    limit: float | None = None
    """Seconds to wait for the answer."""
    timeout: asyncio.Timeout | None = None
    """Set while the answer is awaited."""

    @contextmanager
    def timeout_paused(self) -> Iterator[None]:
        """Do not count the time that the client itself needs; the timeout starts over afterwards."""
        self._reschedule(None)
        yield
        if self.limit is not None:
            self._reschedule(asyncio.get_running_loop().time() + self.limit)

    def _reschedule(self, when: float | None) -> None:
        if self.timeout is not None and not self.timeout.expired():
            self.timeout.reschedule(when)


class ClientTransport(Protocol):
    async def open(self) -> None:
        """
        Raises:
            ConnectionBroken: the server cannot be reached.
        """

    async def opened(self) -> None:
        """Called after the handshake."""

    async def send(self, body: bytes, message: Any, call: PendingCall | None) -> None:
        """Send `body`, which need not be a valid message. With a call, may return only after its answer.

        Raises:
            StepFailed: the body cannot be sent, or the call can no longer be answered.
        """

    async def close(self) -> None: ...


class PendingCalls:
    """The unanswered calls of a bidirectional connection."""

    def __init__(self) -> None:
        self._calls: list[PendingCall] = []

    def add(self, call: PendingCall | None) -> None:
        if call is not None:
            self._calls.append(call)

    def fail(self, reason: str) -> None:
        """Fail all calls: the connection ended."""
        for call in self._calls:
            if not call.answer.done():
                call.answer.set_exception(ConnectionBroken(reason))
        self._calls.clear()
