"""Input of a WebSocket connection, handled in pieces at the pace that is fair to other clients.

A frame of one byte costs as much as one of a thousand. Whatever a client sends, it uses no more than its
share of the event loop's time: the rest of what has arrived waits, and nothing more is read meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Final, Protocol

from assay.transport.time_share import TimeShares

SMALL: Final = 1024
"""Bytes. Handling so few costs hardly more than waking up for them, and is not measured."""
PIECE: Final = 16 * 1024
"""Bytes that are handled at once: in frames of one byte they take some 10 ms."""


class InputHandler(Protocol):
    """The connection."""

    def handle_input(self, data: bytes) -> None: ...

    def wait_too_long(self) -> None:
        """The client would have to wait too long, or on too many connections."""


class PacedInput:
    """What arrives on one connection. Reading pauses while the application has enough to do, or while the
    client waits for its share."""

    __slots__ = ("_client", "_dropped", "_handler", "_rest", "_shares", "_timer", "_transport", "reading")

    def __init__(self, transport: asyncio.Transport, shares: TimeShares, client: Hashable) -> None:
        self._transport = transport
        self._shares = shares
        self._client = client
        self._rest = memoryview(b"")
        self._timer: asyncio.TimerHandle | None = None
        self._handler: InputHandler | None = None
        """The connection, while it waits: one that is closed must not be held."""
        self._dropped = False
        self.reading = True
        """Whether the connection wants to read."""

    def pause(self) -> None:
        self.reading = False
        self._transport.pause_reading()

    def resume(self) -> None:
        self.reading = True
        if self._timer is None:
            self._transport.resume_reading()

    def receive(self, data: bytes, handler: InputHandler) -> None:
        """Handle data now, as far as the client's share allows, and the rest later."""
        if len(data) <= SMALL or self._shares.unlimited:
            return handler.handle_input(data)
        self._rest = memoryview(data)
        return self._continue(handler)

    def _continue(self, handler: InputHandler) -> None:
        while self._rest and not self._dropped:
            piece, self._rest = bytes(self._rest[:PIECE]), self._rest[PIECE:]
            began = self._shares.now()
            handler.handle_input(piece)
            self._shares.charge(self._client, self._shares.now() - began)
            wait = self._shares.wait_for(self._client)
            if self._dropped or wait == 0:
                continue
            if wait is None or not self._shares.begin_wait(self._client):
                return handler.wait_too_long()
            return self._wait(wait, handler)
        return None

    def _wait(self, seconds: float, handler: InputHandler) -> None:
        self._handler = handler
        self._transport.pause_reading()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._wake_up)

    def _wake_up(self) -> None:
        handler, self._handler, self._timer = self._handler, None, None
        self._shares.end_wait(self._client)
        assert handler is not None
        self._continue(handler)
        self._resume_if_idle()

    def _resume_if_idle(self) -> None:
        if self.reading and self._timer is None and not self._transport.is_closing():
            self._transport.resume_reading()

    def drop(self) -> None:
        """Forget what is not handled yet, and let the connection read on what it ignores. Idempotent."""
        self._dropped = True
        self._rest = memoryview(b"")
        self._handler = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._shares.end_wait(self._client)
            self._resume_if_idle()
