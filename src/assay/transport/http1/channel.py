"""One client's socket: when it is read, when it can be written to, and how long we wait for the client.

Whatever ends, ends in steps, so that the client gets what was written: our half of the connection first, then
the connection, and only with a client that does not read everything at once.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import TYPE_CHECKING, Final, cast

from assay.model.limits import Limits

if TYPE_CHECKING:
    from .house import Clock, House

LINGER: Final = 2.0
"""Seconds to read on after an early answer: closing at once would reset the connection, and the
client might never see what it was told (RFC 9112, 9.6)."""

PROGRESS: Final = 16 * 1024
"""Bytes that a client must take within `write_timeout`, or it counts as one that does not read: less may
be what the kernel still found room for."""


class Channel(asyncio.Protocol):
    """The part of a connection that knows nothing of what is said."""

    # Defaults on the class: a connection sets only what differs.
    lost = False
    congested = False
    due = inf
    """When patience with this client ends; the house looks now and then."""
    _writable: asyncio.Future[None] | None = None
    _reading = True
    _deaf = False
    """What still comes is read and thrown away."""
    _silent = False
    """Nothing more will be said."""
    _ended = False
    """The connection closes when all that was written has left."""
    _unsent = 0

    def __init__(self, house: House) -> None:
        self.loop = house.loop
        self.clock: Clock = house.clock
        self.limits: Limits = house.limits

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.write = self._transport.write
        self.abort = self._transport.abort

    def pause_writing(self) -> None:
        self.congested = True
        self._watch()

    def resume_writing(self) -> None:
        self._let_write()
        if self._silent:
            self.due = self._patient(LINGER)
        else:
            self._relieved()

    def _relieved(self) -> None:
        """The client reads again."""
        raise NotImplementedError

    def _let_write(self) -> None:
        self.congested = False
        writable, self._writable = self._writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)

    async def drained(self) -> None:
        """Wait until the client has read enough of what was written."""
        while self.congested and not self.lost:
            if self._writable is None:
                self._writable = self.loop.create_future()
            await asyncio.shield(self._writable)

    def read_on(self) -> None:
        if not self._reading and not self.lost:
            self._reading = True
            self._transport.resume_reading()

    def _read_no_more(self) -> None:
        if self._reading:
            self._reading = False
            self._transport.pause_reading()

    def _patient(self, seconds: float) -> float:
        return self.clock.now() + seconds

    def _watch(self) -> None:
        """See to it that the client goes on reading."""
        self._unsent = self._transport.get_write_buffer_size()
        self.due = self._patient(self.limits.write_timeout)

    def _give_up(self) -> None:
        """Unless it reads after all: a long answer may take its time on a thin line."""
        before = self._unsent
        self._watch()
        if self._unsent > before - PROGRESS:
            self.abort()

    def _linger(self) -> None:
        """Say nothing more, and hear the client out."""
        self._deaf = self._silent = True
        self.read_on()
        if not self.congested:
            self.due = self._patient(LINGER)
        if self._transport.can_write_eof():
            self._transport.write_eof()

    def _end(self) -> None:
        """Close, once all that was written has left."""
        self._silent = self._ended = True
        self._transport.close()
        self._watch()
