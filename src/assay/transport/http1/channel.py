"""The socket of one client: flow control in both directions, deadlines, and an orderly close.

Closing happens in steps, so that the client receives everything that was written: first our half of the
connection, then the connection itself. Only a client that stops reading is cut off.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import TYPE_CHECKING, Final, cast

from assay.model.limits import Limits
from assay.protocol.byte_budget import ByteShare
from assay.protocol.http.busy import NO_MEMORY, unavailable

from .request_head import RequestRefused

if TYPE_CHECKING:
    from .server_state import Clock, ServerState

LINGER: Final = 2.0
"""Seconds to keep reading after an early response. Closing at once would reset the connection, and the
client might lose the response (RFC 9112, 9.6)."""

PROGRESS: Final = 16 * 1024
"""Bytes that a client must read within `write_timeout` to count as reading. Fewer may only have gone into
the kernel's buffers."""


class Channel(asyncio.Protocol):
    """The part of a connection that does not depend on the protocol spoken."""

    # Defaults on the class: a connection sets only what differs.
    lost = False
    congested = False
    deadline = inf
    """When `expire` is called; the server state checks it once per sweep."""
    _writable: asyncio.Future[None] | None = None
    _reading = True
    _discarding = False
    """Input is read and thrown away."""
    _write_closed = False
    _closed = False
    """The connection closes when the write buffer is empty."""
    _unsent = 0
    _unread: ByteShare | None = None
    """What waits for a client that does not read."""
    _unserved: ByteShare | None = None
    """What has arrived before the application takes it."""

    def __init__(self, server: ServerState) -> None:
        self.loop = server.loop
        self.clock: Clock = server.clock
        self.limits: Limits = server.limits

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.write = self._transport.write
        self.abort = self._transport.abort

    def pause_writing(self) -> None:
        self.congested = True
        self._watch_writes()
        self._unread = self._new_share()
        if not self._unread.resize(self._unsent):
            self.loop.call_soon(self.abort)

    def _hold(self, size: int) -> None:
        """Count what the application does not take yet.

        Raises:
            RequestRefused: it does not fit into the byte budget.
        """
        if self._unserved is None:
            self._unserved = self._new_share()
        if not self._unserved.resize(max(size, self._unserved.size)):
            raise RequestRefused(unavailable(NO_MEMORY))

    def taken(self) -> None:
        """The application has what was held back for it."""
        if self._unserved is not None:
            self._unserved.release()

    def _new_share(self) -> ByteShare:
        """What this connection takes of the byte budget."""
        raise NotImplementedError

    def resume_writing(self) -> None:
        self._release_writers()
        if self._write_closed:
            self.deadline = self._deadline_in(LINGER)
        else:
            self._on_writable()

    def _on_writable(self) -> None:
        """The client reads again."""
        raise NotImplementedError

    def _release_writers(self) -> None:
        self.congested = False
        if self._unread is not None:
            self._unread.release()
        writable, self._writable = self._writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)

    async def drained(self) -> None:
        """Wait until the client has read enough of what was written."""
        while self.congested and not self.lost:
            if self._writable is None:
                self._writable = self.loop.create_future()
            await asyncio.shield(self._writable)

    def resume_reading(self) -> None:
        if not self._reading and not self.lost:
            self._reading = True
            self._transport.resume_reading()

    def _pause_reading(self) -> None:
        if self._reading:
            self._reading = False
            self._transport.pause_reading()

    def _deadline_in(self, seconds: float) -> float:
        return self.clock.now() + seconds

    def _watch_writes(self) -> None:
        """Start the deadline for the client to read `PROGRESS` bytes."""
        self._unsent = self._transport.get_write_buffer_size()
        self.deadline = self._deadline_in(self.limits.write_timeout)

    def _abort_if_stalled(self) -> None:
        """Cut a client that has stopped reading. A slow one that makes progress gets another period."""
        before = self._unsent
        self._watch_writes()
        if self._unsent > before - PROGRESS:
            self.abort()

    def _linger(self) -> None:
        """Close our half of the connection, and discard what the client still sends."""
        self._discarding = self._write_closed = True
        self.resume_reading()
        if not self.congested:
            self.deadline = self._deadline_in(LINGER)
        if self._transport.can_write_eof():
            self._transport.write_eof()

    def _close(self) -> None:
        """Close once the write buffer is empty."""
        self._write_closed = self._closed = True
        self._transport.close()
        self._watch_writes()
