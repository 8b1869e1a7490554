"""Sessions in SQLite."""

from __future__ import annotations

import sqlite3
from typing import Final

import msgspec

from assay.model.session import SessionRecord
from assay.store.memory import Clock
from assay.store.port import IN_USE

from .database import Database

EVICTED_AT_ONCE: Final = 500
"""Sessions that expire in one transaction: a longer one would make other processes wait."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(SessionRecord).decode


class SqliteSessions:
    """Sessions that all processes on one machine use."""

    def __init__(self, database: Database, *, idle_timeout: float, clock: Clock) -> None:
        self._database = database
        self._idle_timeout = idle_timeout
        self._clock = clock

    @property
    def _oldest(self) -> float:
        return self._clock() - self._idle_timeout

    async def save(self, record: SessionRecord) -> None:
        await self._database.write(lambda connection: self._replace(connection, record, ""))

    async def add(self, record: SessionRecord, client: str, limit: int) -> list[str]:
        def work(connection: sqlite3.Connection) -> list[str]:
            self._replace(connection, record, client)
            (count,) = connection.execute("select sessions from totals").fetchone()
            idle = self._clock() - IN_USE
            return [_give_up(connection, client, record.id, limit, idle) for _ in range(count - limit)]

        return await self._database.write(work)

    def _replace(self, connection: sqlite3.Connection, record: SessionRecord, client: str) -> None:
        connection.execute(
            "insert into sessions values (?, ?, ?, ?, ?, ?) on conflict do update set"
            " version = excluded.version, used = excluded.used, listening = excluded.listening,"
            " record = excluded.record",
            (record.id, record.version, client, self._clock(), record.listening, _encode(record)),
        )
        _set_subscriptions(connection, record)

    async def swap(self, record: SessionRecord) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            changed = connection.execute(
                "update sessions set version = ?, used = ?, listening = ?, record = ?"
                " where id = ? and version = ? and used >= ?",
                (
                    *(record.version, self._clock(), record.listening, _encode(record)),
                    *(record.id, record.version - 1, self._oldest),
                ),
            ).rowcount
            if changed:
                _set_subscriptions(connection, record)
            return changed > 0

        return await self._database.write(work)

    async def is_current(self, session_id: str, version: int) -> bool:
        statement = "select 1 from sessions where id = ? and version = ? and used >= ?"
        return bool(self._database.read(statement, (session_id, version, self._oldest)))

    async def count(self) -> int:
        return int(self._database.read("select sessions from totals")[0][0])

    async def load(self, session_id: str) -> SessionRecord | None:
        statement = "select record from sessions where id = ? and used >= ?"
        rows = self._database.read(statement, (session_id, self._oldest))
        return _decode(rows[0][0]) if rows else None

    async def touch(self, session_id: str) -> None:
        statement = "update sessions set used = ? where id = ? and used >= ?"
        values = (self._clock(), session_id, self._oldest)
        await self._database.write(lambda connection: connection.execute(statement, values))

    async def delete(self, session_id: str) -> bool:
        return await self._database.write(lambda connection: _delete(connection, session_id))

    async def evict(self) -> list[str]:
        oldest, evicted = self._oldest, list[str]()
        while expired := self._database.read(
            "select id from sessions where used < ? limit ?", (oldest, EVICTED_AT_ONCE)
        ):
            ids = [session_id for (session_id,) in expired]
            deleted = await self._database.write(
                lambda connection, ids=ids: [each for each in ids if _delete(connection, each)]  # type: ignore[misc]
            )
            evicted += deleted
        return evicted


def _delete(connection: sqlite3.Connection, session_id: str) -> bool:
    return connection.execute("delete from sessions where id = ?", (session_id,)).rowcount > 0


def _set_subscriptions(connection: sqlite3.Connection, record: SessionRecord) -> None:
    rows = connection.execute("select uri from subscriptions where session = ?", (record.id,))
    stored, current = {uri for (uri,) in rows}, set(record.subscriptions)
    if stored != current:
        removed, added = stored - current, current - stored
        connection.executemany(
            "delete from subscriptions where uri = ? and session = ?", [(uri, record.id) for uri in removed]
        )
        connection.executemany("insert into subscriptions values (?, ?)", [(uri, record.id) for uri in added])


def _give_up(connection: sqlite3.Connection, client: str, new: str, limit: int, idle: float) -> str:
    """Delete the session that makes room: the client's own if it has more than its share, else of the client
    with the most; the new one if none of those is idle since that time."""
    (clients,) = connection.execute("select count(*) from clients").fetchone()
    (own,) = connection.execute("select sessions from clients where client = ?", (client,)).fetchone()
    chosen = client
    if own == 1 or own * clients <= limit:
        (chosen,) = connection.execute("select client from clients order by sessions desc limit 1").fetchone()
    row = connection.execute(
        "select id from sessions where client = ? and id != ? and used < ? order by used limit 1",
        (chosen, new, idle),
    ).fetchone()
    victim = new if row is None else row[0]
    _delete(connection, victim)
    return str(victim)
