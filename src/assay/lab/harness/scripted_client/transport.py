"""How the guest's messages get to the server: the port that each transport implements."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from msgspec import Struct

from .failure import Broken

Json = dict[str, Any]


class Call(Struct):
    """A request that waits for its answer."""

    id: Any
    method: str
    answer: asyncio.Future[Json]
    limit: float | None = None
    """Seconds that the answer may take."""
    clock: asyncio.Timeout | None = None
    """Runs while somebody waits for the answer."""

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """The clock stands still meanwhile, and begins anew after that: what the guest itself takes its time
        for is no fault of the server."""
        self._reschedule(None)
        yield
        if self.limit is not None:
            self._reschedule(asyncio.get_running_loop().time() + self.limit)

    def _reschedule(self, when: float | None) -> None:
        if self.clock is not None and not self.clock.expired():
            self.clock.reschedule(when)


class ClientTransport(Protocol):
    async def open(self) -> None:
        """
        Raises:
            Broken: the server cannot be reached.
        """

    async def opened(self) -> None:
        """The handshake is over."""

    async def send(self, body: bytes, message: Any, call: Call | None) -> None:
        """Send what is a message, or is not. With a call, this may go on until its answer has come.

        Raises:
            Failed: it cannot be sent, or no answer can come any more.
        """

    async def close(self) -> None: ...


class Waiting:
    """The calls of a connection that carries messages both ways."""

    def __init__(self) -> None:
        self._calls: list[Call] = []

    def add(self, call: Call | None) -> None:
        if call is not None:
            self._calls.append(call)

    def fail(self, reason: str) -> None:
        """The connection ended: no answer comes any more."""
        for call in self._calls:
            if not call.answer.done():
                call.answer.set_exception(Broken(reason))
        self._calls.clear()
