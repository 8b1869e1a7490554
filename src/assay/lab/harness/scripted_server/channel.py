"""Where a message came from, and where an answer to it goes: the port that each transport implements."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Protocol


class Channel(Protocol):
    connection: str
    left: asyncio.Event
    """Set when the client hung up."""

    def send(self, body: bytes, /) -> Awaitable[None]:
        """A message that is not the last one here: on HTTP the response becomes an event stream."""

    def raw(self, data: bytes, /) -> Awaitable[None]:
        """Bytes as they are: on HTTP a block of the event stream, on stdio they need no newline."""

    async def reply(self, body: bytes, status: int | None = None) -> None:
        """The last message: on HTTP it ends the response."""

    async def finish(self) -> None:
        """No message comes any more."""

    def cut(self) -> None:
        """Hang up in the middle."""
