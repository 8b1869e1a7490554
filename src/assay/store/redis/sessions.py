"""Sessions in Redis.

A round trip to Redis costs more than a whole call. So this remembers which versions of sessions are current;
each change is announced on the bus, before it is acknowledged to the client that made it.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable
from hashlib import blake2s
from typing import Final

import msgspec

from assay.model.session import SessionRecord
from assay.store.memory import Clock
from assay.store.port import IN_USE, STANDALONE, BusMessage

from . import script
from .bus import RedisBus
from .link import RedisLink

SESSIONS: Final = "sessions"
"""The topic of changed sessions."""
REMEMBERED: Final = 10_000
"""Versions that are remembered as current."""
TRUSTED: Final = 60.0
"""Seconds after which a version is read again, whatever the bus has said."""
SPARE: Final = 60
"""Seconds that keys are kept longer than their session."""
EVICTED_AT_ONCE: Final = 500
STREAMS: Final = 64
"""Streams of one session; further ones replace the oldest."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(SessionRecord).decode


class RedisSessions:
    """Sessions that all processes on all machines use."""

    def __init__(self, link: RedisLink, bus: RedisBus, *, idle_timeout: float, clock: Clock) -> None:
        self._link = link
        self._bus = bus
        self._idle_timeout = idle_timeout
        self._clock = clock
        self._current: OrderedDict[str, tuple[int, float]] = OrderedDict()
        """Current versions, and until when to believe that they are."""
        self._trusted = min(TRUSTED, idle_timeout / 4)
        self._index = [link.key("index", name) for name in ("used", "clients", "owners")]
        bus.subscribe(SESSIONS, self._receive)
        bus.on_gap(self._current.clear)

    def _key(self, session_id: str, name: str = "session") -> str:
        return self._link.key(session_id, name)

    @property
    def _lifetime(self) -> int:
        return int(self._idle_timeout) + SPARE

    @property
    def _oldest(self) -> float:
        return self._clock() - self._idle_timeout

    def _remember(self, session_id: str, version: int) -> None:
        self._current[session_id] = (version, time.monotonic() + self._trusted)
        self._current.move_to_end(session_id)
        if len(self._current) > REMEMBERED:
            self._current.popitem(last=False)

    def _receive(self, message: BusMessage) -> None:
        self._current.pop(message.data.decode(), None)

    async def _changed(self, session_ids: Iterable[str]) -> None:
        await self._bus.publish([BusMessage(SESSIONS, each.encode()) for each in session_ids])

    async def save(self, record: SessionRecord) -> None:
        await self._store(record, replace=True)
        await self._link.script(script.INDEX_ADD, self._index, record.id, "", self._clock(), 0, 0)
        await self._set_places(record)
        await self._changed([record.id])

    async def add(self, record: SessionRecord, client: str, limit: int) -> list[str]:
        now = self._clock()
        values = (record.id, client, now, limit, now - IN_USE)
        added = await self._link.script(script.INDEX_ADD, self._index, *values)
        ended: list[str] = [each.decode() for each in added]
        if record.id not in ended:
            await self._store(record, replace=True)
            stream = (STANDALONE, "", b"", self._lifetime, STREAMS)
            await self._link.script(script.OPEN, [self._key(record.id, "streams")], *stream)
            await self._set_places(record)
            self._remember(record.id, record.version)
        for session_id in ended:
            await self._delete_keys(session_id)
        await self._changed(ended)
        return ended

    async def _store(self, record: SessionRecord, *, replace: bool) -> bool:
        values = (_encode(record), record.version, self._clock(), self._lifetime, int(replace), self._oldest)
        return bool(await self._link.script(script.SAVE, [self._key(record.id)], *values))

    async def swap(self, record: SessionRecord) -> bool:
        before = await self.load(record.id)
        if not await self._store(record, replace=False):
            return False
        if before is None or places(before) != places(record):
            await self._set_places(record, before)
        self._remember(record.id, record.version)
        await self._changed([record.id])
        return True

    async def _set_places(self, record: SessionRecord, before: SessionRecord | None = None) -> None:
        """Enter the session where announcements look for their receivers."""
        old, new = set() if before is None else places(before), places(record)
        pipeline = self._link.client.pipeline(transaction=False)
        for place in new - old:
            pipeline.zadd(self._link.key("index", place), {record.id: 0})
        for place in old - new:
            pipeline.zrem(self._link.key("index", place), record.id)
        if old != new:
            await self._link.run(pipeline.execute())

    async def is_current(self, session_id: str, version: int) -> bool:
        current, until = self._current.get(session_id, (-1, 0.0))
        return current == version and self._bus.is_connected and until > time.monotonic()

    async def count(self) -> int:
        return int(await self._link.run(self._link.client.zcard(self._index[0])))

    async def load(self, session_id: str) -> SessionRecord | None:
        # Known before it is read: a change in between then makes it unknown again.
        self._remember(session_id, -1)
        values = await self._link.run(self._link.client.hmget(self._key(session_id), "record", "used"))
        data, used = values
        if data is None or used is None or float(used) < self._oldest:
            self._current.pop(session_id, None)
            return None
        record = _decode(data)
        if session_id in self._current:
            self._remember(session_id, record.version)
        return record

    async def touch(self, session_id: str) -> None:
        keys = [self._key(session_id), self._key(session_id, "streams")]
        now = self._clock()
        if await self._link.script(script.TOUCH, keys, now, self._oldest, self._lifetime):
            await self._link.script(script.INDEX_TOUCH, self._index, session_id, now)

    async def delete(self, session_id: str) -> bool:
        existed = await self._delete_keys(session_id)
        await self._link.script(script.INDEX_REMOVE, self._index, session_id)
        await self._changed([session_id])
        return existed

    async def _delete_keys(self, session_id: str) -> bool:
        self._current.pop(session_id, None)
        client, key = self._link.client, self._key(session_id)
        data = await self._link.run(client.hget(key, "record"))
        if data is not None:
            pipeline = client.pipeline(transaction=False)
            for place in places(_decode(data)):
                pipeline.zrem(self._link.key("index", place), session_id)
            await self._link.run(pipeline.execute())
        await self._link.script(script.DROP, [self._key(session_id, "streams")])
        return bool(await self._link.run(client.delete(key)))

    async def evict(self) -> list[str]:
        evicted: list[str] = []
        oldest = f"({self._oldest}"
        while expired := await self._link.run(
            self._link.client.zrangebyscore(self._index[0], "-inf", oldest, start=0, num=EVICTED_AT_ONCE)
        ):
            ids = [each.decode() for each in expired]
            for session_id in ids:
                await self._delete_keys(session_id)
            await self._link.script(script.INDEX_REMOVE, self._index, *ids)
            evicted += ids
        return evicted


def place_of(uri: str) -> str:
    """The key of the sessions that subscribe to a resource; a digest, because a URI may be long."""
    return f"uri:{blake2s(uri.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def places(record: SessionRecord) -> set[str]:
    """Where announcements look for the session."""
    return {*map(place_of, record.subscriptions), *(("listening",) if record.listening else ())}
