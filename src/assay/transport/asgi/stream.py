"""Event streams of a session. Messages are kept in the event store under the stream's name, so a
client that lost its connection can follow the same stream from where it was."""

from __future__ import annotations

import asyncio
from collections import deque

from assay.store.port import Event, EventStore

STANDALONE = "0"
"""The stream for messages that belong to no request; the others are numbered from 1."""


class Stream:
    """One stream: a row of kept messages, and an alarm for whoever follows it."""

    def __init__(self, session_id: str, name: str, events: EventStore) -> None:
        self.name = name
        self.last = 0
        self.finished = False
        self.reader = 0
        """Counts readers: a newer one takes over, so that each message goes to one connection only."""
        self._session_id = session_id
        self._events = events
        self._changed = asyncio.Event()

    def event_id(self, number: int) -> str:
        return f"{self.name}-{number}"

    async def append(self, data: bytes) -> str:
        if self.finished:
            # The session has ended, and its events are forgotten: keeping one more would keep it for ever.
            return self.event_id(self.last)
        self.last = await self._events.append(self._session_id, self.name, data)
        self._wake()
        return self.event_id(self.last)

    async def after(self, number: int) -> list[Event] | None:
        """Messages later than `number`; none when they are no longer all there."""
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
        """Set at the next change. Take it before looking, so that no change is missed between."""
        return self._changed


def parse_event_id(text: str) -> tuple[str, int] | None:
    """The stream's name and the message's number, if the text is an id that `Stream` made."""
    name, separator, number = text.partition("-")
    if not separator or not (name.isascii() and name.isdecimal() and number.isascii() and number.isdecimal()):
        return None
    return (name, int(number)) if len(number) < 20 else None


class Outbox:
    """Takes messages without waiting and appends them, in order, to a stream."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._waiting: deque[bytes] = deque(maxlen=1024)
        self._task: asyncio.Task[None] | None = None

    def post(self, data: bytes) -> None:
        self._waiting.append(data)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._drain())

    async def _drain(self) -> None:
        while self._waiting:
            await self._stream.append(self._waiting.popleft())
