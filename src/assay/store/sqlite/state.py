"""Kept state, keys that may be used once, and token buckets, in SQLite."""

from __future__ import annotations

import sqlite3
from typing import Final

import msgspec

from assay.store.bucket import Bucket
from assay.store.memory import Clock
from assay.store.port import StateRecord, StoreFull

from .database import Database

REPLAY_KEYS: Final = 1_000_000
BUCKETS: Final = 100_000

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(StateRecord).decode


class SqliteState:
    """Kept state of principals."""

    def __init__(self, database: Database, principals: int, *, clock: Clock) -> None:
        self._database = database
        self._principals = principals
        self._clock = clock

    def peek(self, owner: str) -> StateRecord:
        rows = self._database.read("select data from states where owner = ?", (owner,))
        return _decode(rows[0][0]) if rows else StateRecord({})

    async def swap(self, owner: str, record: StateRecord) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            row = connection.execute("select version from states where owner = ?", (owner,)).fetchone()
            if (0 if row is None else row[0]) + 1 != record.version:
                return False
            connection.execute(
                "insert or replace into states values (?, ?, ?, ?)",
                (owner, record.version, self._clock(), _encode(record)),
            )
            if row is None:
                (count,) = connection.execute("select count(*) from states").fetchone()
                if count > self._principals:
                    connection.execute(
                        "delete from states where owner in (select owner from states order by used limit 1)"
                    )
            return True

        return await self._database.write(work)


class SqliteReplay:
    """Keys that may be used once."""

    def __init__(self, database: Database, keys: int = REPLAY_KEYS, *, clock: Clock) -> None:
        self._database = database
        self._limit = keys
        self._clock = clock

    async def add(self, key: bytes, expires: float) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            connection.execute("delete from replays where expires <= ?", (self._clock(),))
            if connection.execute("select 1 from replays where key = ?", (key,)).fetchone():
                return False
            (last,) = connection.execute("select count(*) from replays").fetchone()
            if last >= self._limit:
                raise StoreFull(f"too many keys that have not expired: limit {self._limit}")
            connection.execute("insert into replays values (?, ?)", (key, expires))
            return True

        return await self._database.write(work)


class SqliteLimits:
    """Token buckets."""

    def __init__(self, database: Database, buckets: int = BUCKETS, *, clock: Clock) -> None:
        self._database = database
        self._limit = buckets
        self._clock = clock

    async def take(self, key: str, rate: float, burst: float) -> float:
        def work(connection: sqlite3.Connection) -> float:
            now = self._clock()
            row = connection.execute("select tokens, filled_at from buckets where key = ?", (key,)).fetchone()
            bucket, wait = (Bucket(burst, now) if row is None else Bucket(*row)).take(now, rate, burst)
            connection.execute("insert or replace into buckets values (?, ?, ?)", (key, *bucket))
            if row is None:
                (count,) = connection.execute("select count(*) from buckets").fetchone()
                if count > self._limit:
                    connection.execute(
                        "delete from buckets"
                        " where key in (select key from buckets order by filled_at limit 1)"
                    )
            return wait

        return await self._database.write(work)
