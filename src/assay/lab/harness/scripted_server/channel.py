"""The channel of a message and its answer: the interface that each transport implements."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Protocol


class Channel(Protocol):
    connection: str
    disconnected: asyncio.Event
    """Set when the client disconnected."""

    def send(self, body: bytes, /) -> Awaitable[None]:
        """Send a message before the last one; on HTTP the response becomes an event stream."""

    def raw(self, data: bytes, /) -> Awaitable[None]:
        """Send bytes unchanged: on HTTP as a block of the event stream, on stdio without adding a newline."""

    async def reply(self, body: bytes, status: int | None = None) -> None:
        """Send the last message; on HTTP it ends the response."""

    async def finish(self) -> None:
        """End the response without another message."""

    def cut(self) -> None:
        """Close the connection abruptly."""
