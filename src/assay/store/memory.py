"""Stores in memory, limited in time and bytes."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from assay.model.session import SessionRecord

from .port import Event

Clock = Callable[[], float]


class MemorySessions:
    """Sessions in memory, which expire when they are not used."""

    def __init__(self, *, idle_timeout: float = 1800.0, clock: Clock = time.monotonic) -> None:
        self._idle_timeout = idle_timeout
        self._clock = clock
        self._records: OrderedDict[str, tuple[float, SessionRecord]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._records)

    async def save(self, record: SessionRecord) -> None:
        self._records[record.id] = (self._clock(), record)
        self._records.move_to_end(record.id)

    async def load(self, session_id: str) -> SessionRecord | None:
        return self._fresh(session_id)

    async def touch(self, session_id: str) -> None:
        record = self._fresh(session_id)
        if record is not None:
            await self.save(record)

    def _fresh(self, session_id: str) -> SessionRecord | None:
        used, record = self._records.get(session_id, (0.0, None))
        return None if used + self._idle_timeout < self._clock() else record

    async def delete(self, session_id: str) -> bool:
        return self._records.pop(session_id, None) is not None

    async def evict(self) -> list[str]:
        oldest_allowed = self._clock() - self._idle_timeout
        evicted = []
        while self._records:
            session_id, (used, _) = next(iter(self._records.items()))
            if used >= oldest_allowed:
                break
            del self._records[session_id]
            evicted.append(session_id)
        return evicted


EVENT_OVERHEAD: Final = 128
"""Bytes that a stored message takes besides its data; counted in the total of all sessions."""


class _Stream(Struct):
    events: deque[Event]
    last: int = 0


class _Session(Struct):
    streams: OrderedDict[str, _Stream]
    size: int = 0
    count: int = 0

    @property
    def kept(self) -> int:
        """Bytes that count in the total of all sessions."""
        return self.size + self.count * EVENT_OVERHEAD


class MemoryEvents:
    """The latest messages of each stream, up to a total size per session and of all sessions.

    When all sessions together keep too much, the one with the most loses its oldest messages. Numbers are not
    reused while a stream exists, even if its messages have been dropped.
    """

    def __init__(
        self,
        *,
        events_per_stream: int = 256,
        bytes_per_session: int = 16 * 1024 * 1024,
        total_bytes: int = 64 * 1024 * 1024,
    ) -> None:
        self._events = events_per_stream
        self._bytes = bytes_per_session
        self._total_bytes = total_bytes
        self._total = 0
        self._sessions: dict[str, _Session] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    async def append(self, session_id: str, stream: str, data: bytes) -> int:
        session = self._sessions.setdefault(session_id, _Session(OrderedDict()))
        stored = session.streams.setdefault(stream, _Stream(deque()))
        session.streams.move_to_end(stream)
        stored.last += 1
        stored.events.append(Event(stored.last, data))
        self._count(session, len(data), 1)
        if len(stored.events) > self._events:
            self._drop_oldest(session, stored)
        self._trim(session)
        while self._total > self._total_bytes:
            self._drop_half(max(self._sessions.values(), key=lambda each: each.kept))
        return stored.last

    def _count(self, session: _Session, size: int, events: int) -> None:
        session.size += size
        session.count += events
        self._total += size + events * EVENT_OVERHEAD

    def _trim(self, session: _Session) -> None:
        for stream in session.streams.values():
            while session.size > self._bytes and stream.events:
                self._drop_oldest(session, stream)

    def _drop_half(self, session: _Session) -> None:
        """Drop half of what a session keeps, and not one message: to find the largest session takes time."""
        rest = session.kept // 2
        for stream in session.streams.values():
            while session.kept > rest and stream.events:
                self._drop_oldest(session, stream)

    def _drop_oldest(self, session: _Session, stream: _Stream) -> None:
        self._count(session, -len(stream.events.popleft().data), -1)

    async def after(self, session_id: str, stream: str, number: int) -> list[Event] | None:
        session = self._sessions.get(session_id)
        stored = None if session is None else session.streams.get(stream)
        if stored is None or number > stored.last:
            return None
        events = [event for event in stored.events if event.number > number]
        # With a gap the client would lose messages without noticing: refuse to resume instead.
        return events if len(events) == stored.last - number else None

    async def drop(self, session_id: str, stream: str) -> None:
        session = self._sessions.get(session_id)
        dropped = None if session is None else session.streams.pop(stream, None)
        if session is not None and dropped is not None:
            size = sum(len(event.data) for event in dropped.events)
            self._count(session, -size, -len(dropped.events))

    async def forget(self, session_id: str) -> None:
        session = self._sessions.get(session_id)
        if session is not None:
            for stream in list(session.streams):
                await self.drop(session_id, stream)
            del self._sessions[session_id]
