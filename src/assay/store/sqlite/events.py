"""Messages of streams in SQLite, numbered without gaps by all processes."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Final

from assay.store.memory import EVENT_OVERHEAD
from assay.store.port import STANDALONE, Event, StreamState

from .database import Database

EVENTS_PER_STREAM: Final = 256
BYTES_PER_SESSION: Final = 16 * 1024 * 1024
ANNOUNCED_AT_ONCE: Final = 500
"""Sessions that get a message in one transaction."""

STATE: Final = "last, finished, worker, reader, delivered"


class SqliteEvents:
    """The latest messages of each stream, up to a total size per session and of all sessions."""

    def __init__(
        self,
        database: Database,
        *,
        events_per_stream: int = EVENTS_PER_STREAM,
        bytes_per_session: int = BYTES_PER_SESSION,
        total_bytes: int,
    ) -> None:
        self._database = database
        self._events = events_per_stream
        self._bytes = bytes_per_session
        self._total_bytes = total_bytes

    async def open(self, session_id: str, stream: str, worker: str, failure: bytes) -> None:
        statement = "insert or ignore into streams (session, name, worker, failure) values (?, ?, ?, ?)"
        values = (session_id, stream, worker, failure)
        await self._database.write(lambda connection: connection.execute(statement, values))

    async def append(self, session_id: str, stream: str, data: bytes) -> int:
        def work(connection: sqlite3.Connection) -> int:
            connection.execute(
                "insert or ignore into streams (session, name) values (?, ?)", (session_id, stream)
            )
            state = self._write(connection, session_id, stream, data, is_last=False)
            return 0 if state is None else state.last

        return await self._database.write(work)

    async def write(self, session_id: str, stream: str, data: bytes, *, is_last: bool) -> StreamState | None:
        return await self._database.write(
            lambda connection: self._write(connection, session_id, stream, data, is_last=is_last)
        )

    def _write(
        self, connection: sqlite3.Connection, session_id: str, stream: str, data: bytes, *, is_last: bool
    ) -> StreamState | None:
        row = connection.execute(
            "update streams set last = last + 1, bytes = bytes + ?, finished = ?"
            f" where session = ? and name = ? and not finished returning {STATE}, bytes",
            (len(data) + EVENT_OVERHEAD, is_last, session_id, stream),
        ).fetchone()
        if row is None:
            return None
        *state, size = row
        number = state[0]
        connection.execute("insert into events values (?, ?, ?, ?)", (session_id, stream, number, data))
        if number > self._events:
            self._trim(connection, session_id, stream, number - self._events)
        if size > self._bytes // 4:
            self._trim_session(connection, session_id)
        self._trim_all(connection)
        return _state(state)

    def _trim(self, connection: sqlite3.Connection, session_id: str, stream: str, number: int) -> None:
        """Delete the messages of a stream up to a number."""
        rows = connection.execute(
            "delete from events where session = ? and stream = ? and number <= ? returning length(data)",
            (session_id, stream, number),
        ).fetchall()
        freed = sum(size + EVENT_OVERHEAD for (size,) in rows)
        if freed:
            connection.execute(
                "update streams set bytes = bytes - ? where session = ? and name = ?",
                (freed, session_id, stream),
            )

    def _trim_session(
        self, connection: sqlite3.Connection, session_id: str, limit: int | None = None
    ) -> None:
        """Delete the oldest messages of a session while it has more than its limit."""
        limit = self._bytes if limit is None else limit
        while True:
            rows = connection.execute(
                "select name, last, bytes from streams where session = ? and bytes > 0 order by bytes desc",
                (session_id,),
            ).fetchall()
            if sum(size for _, _, size in rows) <= limit or not rows:
                return
            name, last, _ = rows[0]
            (first,) = connection.execute(
                "select min(number) from events where session = ? and stream = ?", (session_id, name)
            ).fetchone()
            # Half of the largest stream at once: to find it takes time.
            self._trim(connection, session_id, name, (first + last) // 2)

    def _trim_all(self, connection: sqlite3.Connection) -> None:
        """Delete half of what the largest session keeps while all together keep too much."""
        while True:
            (total,) = connection.execute("select event_bytes from totals").fetchone()
            if total <= self._total_bytes:
                return
            session_id, size = connection.execute(
                "select session, sum(bytes) as size from streams group by session order by size desc limit 1"
            ).fetchone()
            self._trim_session(connection, session_id, size // 2)

    async def finish(self, session_id: str, stream: str, *, failed: bool = False) -> StreamState | None:
        def work(connection: sqlite3.Connection) -> StreamState | None:
            if failed:
                statement = "select failure from streams where session = ? and name = ? and not finished"
                row = connection.execute(statement, (session_id, stream)).fetchone()
                if row is None:
                    return None
                return self._write(connection, session_id, stream, row[0], is_last=True)
            row = connection.execute(
                "update streams set finished = 1 where session = ? and name = ? and not finished"
                f" returning {STATE}",
                (session_id, stream),
            ).fetchone()
            return None if row is None else _state(row)

        return await self._database.write(work)

    async def state(self, session_id: str, stream: str) -> StreamState | None:
        statement = f"select {STATE} from streams where session = ? and name = ?"
        rows = self._database.read(statement, (session_id, stream))
        return _state(rows[0]) if rows else None

    async def after(self, session_id: str, stream: str, number: int) -> list[Event] | None:
        # The state first: a message that arrives in between must not look like a gap.
        state = await self.state(session_id, stream)
        if state is None or number > state.last:
            return None
        rows = self._database.read(
            "select number, data from events where session = ? and stream = ? and number > ? order by number",
            (session_id, stream, number),
        )
        if (rows and rows[0][0] != number + 1) or (not rows and state.last > number):
            return None
        return [Event(each, data) for each, data in rows]

    async def follow(self, session_id: str, stream: str, worker: str) -> StreamState | None:
        def work(connection: sqlite3.Connection) -> StreamState | None:
            key = (session_id, stream)
            statement = f"select {STATE} from streams where session = ? and name = ?"
            row = connection.execute(statement, key).fetchone()
            connection.execute("update streams set reader = ? where session = ? and name = ?", (worker, *key))
            return None if row is None else _state(row)

        return await self._database.write(work)

    async def unfollow(self, session_id: str, stream: str, worker: str, delivered: int) -> None:
        statement = (
            "update streams set reader = '', delivered = max(delivered, ?)"
            " where session = ? and name = ? and reader = ?"
        )
        values = (delivered, session_id, stream, worker)
        await self._database.write(lambda connection: connection.execute(statement, values))

    async def drop(self, session_id: str, stream: str) -> None:
        statement, key = "delete from streams where session = ? and name = ?", (session_id, stream)
        await self._database.write(lambda connection: connection.execute(statement, key))

    async def forget(self, session_id: str) -> None:
        statement = "delete from streams where session = ?"
        await self._database.write(lambda connection: connection.execute(statement, (session_id,)))

    async def announce(self, data: bytes, uri: str | None) -> None:
        following = ""
        while True:
            if uri is None:
                statement = "select id from sessions where listening and id > ? order by id limit ?"
                rows = self._database.read(statement, (following, ANNOUNCED_AT_ONCE))
            else:
                statement = (
                    "select session from subscriptions where uri = ? and session > ? order by session limit ?"
                )
                rows = self._database.read(statement, (uri, following, ANNOUNCED_AT_ONCE))
            ids = [session_id for (session_id,) in rows]
            if not ids:
                return
            await self._database.write(lambda connection, ids=ids: self._write_each(connection, ids, data))  # type: ignore[misc]
            following = ids[-1]
            await asyncio.sleep(0)

    def _write_each(self, connection: sqlite3.Connection, ids: list[str], data: bytes) -> None:
        for session_id in ids:
            self._write(connection, session_id, STANDALONE, data, is_last=False)


def _state(row: tuple[int, int, str, str, int] | list[object]) -> StreamState:
    last, finished, worker, reader, delivered = row
    return StreamState(int(last), bool(finished), str(worker), str(reader), int(delivered))  # type: ignore[call-overload]
