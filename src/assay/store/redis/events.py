"""Messages of streams in Redis: a Redis stream for each, with our numbers as its ids."""

from __future__ import annotations

from typing import Any, Final

from assay.store.port import STANDALONE, Event, StreamState

from . import script
from .link import RedisLink
from .sessions import SPARE, STREAMS, place_of

EVENTS_PER_STREAM: Final = 256
BYTES_PER_STREAM: Final = 4 * 1024 * 1024
ANNOUNCED_AT_ONCE: Final = 200
FIELDS: Final = ("last", "finished", "worker", "reader", "delivered")


class RedisEvents:
    """The latest messages of each stream. Their total is bounded by the memory of Redis."""

    def __init__(
        self,
        link: RedisLink,
        *,
        idle_timeout: float,
        events_per_stream: int = EVENTS_PER_STREAM,
        bytes_per_stream: int = BYTES_PER_STREAM,
    ) -> None:
        self._link = link
        self._lifetime = int(idle_timeout) + SPARE
        self._bounds = (events_per_stream, bytes_per_stream, self._lifetime)

    def _key(self, session_id: str) -> list[str]:
        return [self._link.key(session_id, "streams")]

    async def open(self, session_id: str, stream: str, worker: str, failure: bytes) -> None:
        values = (stream, worker, failure, self._lifetime, STREAMS)
        await self._link.script(script.OPEN, self._key(session_id), *values)

    async def append(self, session_id: str, stream: str, data: bytes) -> int:
        values = (stream, data, 0, *self._bounds, 1, 0)
        state = _state(await self._link.script(script.WRITE, self._key(session_id), *values))
        return 0 if state is None else state.last

    async def write(self, session_id: str, stream: str, data: bytes, *, is_last: bool) -> StreamState | None:
        values = (stream, data, int(is_last), *self._bounds, 0, 0)
        return _state(await self._link.script(script.WRITE, self._key(session_id), *values))

    async def finish(self, session_id: str, stream: str, *, failed: bool = False) -> StreamState | None:
        if failed:
            values = (stream, b"", 1, *self._bounds, 0, 1)
            return _state(await self._link.script(script.WRITE, self._key(session_id), *values))
        return _state(await self._link.script(script.FINISH, self._key(session_id), stream))

    async def state(self, session_id: str, stream: str) -> StreamState | None:
        key = f"{self._key(session_id)[0]}:{stream}"
        return _state(await self._link.run(self._link.client.hmget(key, *FIELDS)))

    async def after(self, session_id: str, stream: str, number: int) -> list[Event] | None:
        key = f"{self._key(session_id)[0]}:{stream}"
        # One transaction: what is added in between must not look like a gap.
        pipeline = self._link.client.pipeline(transaction=True)
        pipeline.hget(key, "last")
        pipeline.xrange(f"{key}:events", min=f"{number + 1}-0")
        last, entries = await self._link.run(pipeline.execute())
        if last is None or number > int(last) or len(entries) != int(last) - number:
            return None
        return [Event(int(entry.partition(b"-")[0]), fields[b"d"]) for entry, fields in entries]

    async def follow(self, session_id: str, stream: str, worker: str) -> StreamState | None:
        return _state(await self._link.script(script.FOLLOW, self._key(session_id), stream, worker))

    async def unfollow(self, session_id: str, stream: str, worker: str, delivered: int) -> None:
        await self._link.script(script.UNFOLLOW, self._key(session_id), stream, worker, delivered)

    async def drop(self, session_id: str, stream: str) -> None:
        await self._link.script(script.DROP, self._key(session_id), stream)

    async def forget(self, session_id: str) -> None:
        await self._link.script(script.DROP, self._key(session_id))

    async def announce(self, data: bytes, uri: str | None) -> None:
        place = self._link.key("index", "listening" if uri is None else place_of(uri))
        after = "-"
        while ids := await self._link.run(
            self._link.client.zrangebylex(place, after, "+", start=0, num=ANNOUNCED_AT_ONCE)
        ):
            for session_id in ids:
                await self.write(session_id.decode(), STANDALONE, data, is_last=False)
            after = f"({ids[-1].decode()}"


def _state(values: list[Any] | None) -> StreamState | None:
    if values is None or values[0] is None:
        return None
    last, finished, worker, reader, delivered = values
    return StreamState(int(last), finished == b"1", worker.decode(), reader.decode(), int(delivered))
