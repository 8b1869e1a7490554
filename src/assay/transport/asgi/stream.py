"""Event streams of a session. Their messages are stored under the stream's name, so that a client which lost
its connection can resume."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from typing import Final

from assay.store.port import Event, EventStore

STREAM_NAME: Final = re.compile(r"[0-9a-z]{1,16}(\.[0-9]{1,9})?")


class Stream:
    """One stream: stored messages, and an event that wakes its followers."""

    is_taken = False
    """Whether another process has finished it instead of this one: nothing may be sent any more."""

    def __init__(self, session_id: str, name: str, events: EventStore) -> None:
        self.name = name
        self.last = 0
        self.finished = False
        self.reader = 0
        """Counts readers. The newest one takes over: the server MUST send each message on one connection only
        (basic/transports#multiple-connections)."""
        self._session_id = session_id
        self._events = events
        self._changed = asyncio.Event()

    def event_id(self, number: int) -> str:
        return f"{self.name}-{number}"

    async def append(self, data: bytes, *, is_last: bool = False) -> str | None:
        """Store a message and return its id; none if it cannot be resumed from. After the last one, the
        stream is finished."""
        if self.finished:
            # The session has ended and its events are deleted: one more would never be.
            return None
        self.last = await self._events.append(self._session_id, self.name, data)
        self.finished = is_last
        self._wake()
        return self.event_id(self.last)

    async def end(self) -> None:
        """Finish the stream without a last message, unless it is finished."""
        self.finish()

    async def follow(self) -> None:
        """A connection begins to follow the stream."""

    async def leave(self, number: int) -> None:
        """The connection has ended, after this message."""

    async def after(self, number: int) -> list[Event] | None:
        """Messages later than `number`; none if some of them are gone."""
        if number == self.last:
            return []
        return await self._events.after(self._session_id, self.name, number)

    def finish(self) -> None:
        self.finished = True
        self._wake()

    def take_over(self) -> int:
        self.reader += 1
        self._wake()
        return self.reader

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def changed(self) -> asyncio.Event:
        """An event for the next change. Get it before reading, so that no change in between is missed."""
        return self._changed


def parse_event_id(text: str) -> tuple[str, int] | None:
    """The stream's name and the message's number, if `Stream.event_id` could have made this id."""
    name, separator, number = text.partition("-")
    if not separator or not (STREAM_NAME.fullmatch(name) and number.isascii() and number.isdecimal()):
        return None
    return (name, int(number)) if len(number) < 20 else None


RETRY: Final = 1.0
"""Seconds between two attempts to store a message."""


class Outbox:
    """Appends messages to a stream in order, without making the sender wait."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._waiting: deque[bytes] = deque(maxlen=1024)
        self._task: asyncio.Task[None] | None = None

    def redirect(self, stream: Stream) -> None:
        self._stream = stream

    def post(self, data: bytes) -> None:
        self._waiting.append(data)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._drain())

    async def _drain(self) -> None:
        while self._waiting:
            if await self._stream.append(self._waiting[0]) is None and not self._stream.finished:
                await asyncio.sleep(RETRY)  # the store is away
            else:
                self._waiting.popleft()
