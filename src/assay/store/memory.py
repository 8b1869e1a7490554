"""Stores in memory, limited in count and time."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable

from msgspec import Struct

from assay.model.session import SessionRecord

from .port import Event

Clock = Callable[[], float]


class MemorySessions:
    """Sessions in memory. The least recently used are evicted first, by age and by count."""

    def __init__(
        self, *, limit: int = 10_000, idle_timeout: float = 1800.0, clock: Clock = time.monotonic
    ) -> None:
        self._limit = limit
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
            if used >= oldest_allowed and len(self._records) <= self._limit:
                break
            del self._records[session_id]
            evicted.append(session_id)
        return evicted


class _Stream(Struct):
    events: deque[Event]
    last: int = 0


class _Session(Struct):
    streams: OrderedDict[str, _Stream]
    size: int = 0


class MemoryEvents:
    """The latest messages of each stream, up to a total size per session.

    Numbers are not reused while a stream exists, even if its messages have been dropped.
    """

    def __init__(self, *, events_per_stream: int = 256, bytes_per_session: int = 16 * 1024 * 1024) -> None:
        self._events = events_per_stream
        self._bytes = bytes_per_session
        self._sessions: dict[str, _Session] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    async def append(self, session_id: str, stream: str, data: bytes) -> int:
        session = self._sessions.setdefault(session_id, _Session(OrderedDict()))
        stored = session.streams.setdefault(stream, _Stream(deque()))
        session.streams.move_to_end(stream)
        stored.last += 1
        stored.events.append(Event(stored.last, data))
        session.size += len(data)
        if len(stored.events) > self._events:
            _drop_oldest(session, stored)
        self._trim(session)
        return stored.last

    def _trim(self, session: _Session) -> None:
        for stream in session.streams.values():
            while session.size > self._bytes and stream.events:
                _drop_oldest(session, stream)

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
            session.size -= sum(len(event.data) for event in dropped.events)

    async def forget(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)


def _drop_oldest(session: _Session, stream: _Stream) -> None:
    session.size -= len(stream.events.popleft().data)
