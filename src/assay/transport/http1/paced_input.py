"""Input of a WebSocket connection, handled in pieces at the pace that is fair to other clients.

A frame of one byte costs as much as one of a thousand. Whatever a client sends, it uses no more than its
share of the event loop's time: the rest of what has arrived waits, and nothing more is read meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Final, Protocol

from assay.protocol.time_share import TimeShares

from .turn_queue import TurnQueues

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

    __slots__ = ("_client", "_dropped", "_handler", "_rest", "_shares", "_transport", "_turns", "reading")

    def __init__(
        self, transport: asyncio.Transport, shares: TimeShares, turns: TurnQueues, client: Hashable
    ) -> None:
        self._transport = transport
        self._shares = shares
        self._turns = turns
        self._client = client
        self._rest = memoryview(b"")
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
        if self._handler is None:
            self._transport.resume_reading()

    def receive(self, data: bytes, handler: InputHandler) -> None:
        """Handle data now, as far as the client's share allows, and the rest later."""
        if len(data) <= SMALL or self._shares.unlimited:
            return handler.handle_input(data)
        self._rest = memoryview(data)
        return self._continue(handler)

    def _continue(self, handler: InputHandler) -> None:
        while self._rest and not self._dropped:
            if self._turns.must_wait(self._client):
                return self._wait(handler)
            self._handle_piece(handler)
        return None

    def _handle_piece(self, handler: InputHandler) -> None:
        piece, self._rest = bytes(self._rest[:PIECE]), self._rest[PIECE:]
        began = self._shares.now()
        handler.handle_input(piece)
        self._shares.charge(self._client, self._shares.now() - began)

    def _wait(self, handler: InputHandler) -> None:
        if not self._turns.join(self._client, self):
            return handler.wait_too_long()
        self._handler = handler
        return self._transport.pause_reading()

    def take_turn(self) -> None:
        handler, self._handler = self._handler, None
        assert handler is not None
        self._handle_piece(handler)
        self._continue(handler)
        self._resume_if_idle()

    def _resume_if_idle(self) -> None:
        if self.reading and self._handler is None and not self._transport.is_closing():
            self._transport.resume_reading()

    def drop(self) -> None:
        """Forget what is not handled yet, and let the connection read on what it ignores. Idempotent."""
        self._dropped = True
        self._rest = memoryview(b"")
        if self._handler is not None:
            self._handler = None
            self._turns.leave(self._client, self)
            self._resume_if_idle()
