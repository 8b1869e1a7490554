"""Stores in this process's memory, bounded in count and time."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable

from msgspec import Struct

from assay.model.session import SessionRecord

from .port import Event

Clock = Callable[[], float]


class MemorySessions:
    """Least recently used sessions go first, by age and by count."""

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
        kept = self._records.get(session_id)
        if kept is None or kept[0] + self._idle_timeout < self._clock():
            return None
        await self.save(kept[1])
        return kept[1]

    async def delete(self, session_id: str) -> bool:
        return self._records.pop(session_id, None) is not None

    async def evict(self) -> list[str]:
        oldest_allowed = self._clock() - self._idle_timeout
        evicted = []
        for session_id, (used, _) in list(self._records.items()):
            if used >= oldest_allowed and len(self._records) <= self._limit:
                break
            del self._records[session_id]
            evicted.append(session_id)
        return evicted


class _Stream(Struct):
    events: deque[Event]
    last: int = 0


class MemoryEvents:
    """The latest messages of each stream, and the latest streams of each session."""

    def __init__(self, *, events_per_stream: int = 256, streams_per_session: int = 64) -> None:
        self._events = events_per_stream
        self._streams = streams_per_session
        self._sessions: dict[str, OrderedDict[str, _Stream]] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    async def append(self, session_id: str, stream: str, data: bytes) -> int:
        streams = self._sessions.setdefault(session_id, OrderedDict())
        kept = streams.get(stream)
        if kept is None:
            kept = streams[stream] = _Stream(deque(maxlen=self._events))
        streams.move_to_end(stream)
        while len(streams) > self._streams:
            streams.popitem(last=False)
        kept.last += 1
        kept.events.append(Event(kept.last, data))
        return kept.last

    async def after(self, session_id: str, stream: str, number: int) -> list[Event] | None:
        kept = self._sessions.get(session_id, OrderedDict()).get(stream)
        if kept is None or number > kept.last:
            return None
        events = [event for event in kept.events if event.number > number]
        # A gap would lose messages silently: better to say that the stream cannot be continued.
        return events if len(events) == kept.last - number else None

    async def forget(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)
