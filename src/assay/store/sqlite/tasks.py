"""Tasks in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from assay.model.limits import Limits
from assay.model.task import TaskRecord
from assay.store.memory import Clock
from assay.store.port import BusMessage, StoreFull
from assay.store.task_json import decode_task, encode_task
from assay.store.task_watch import TASKS, TaskWatch

from .bus import SqliteBus
from .database import Database

COLUMNS: Final = "owner, form, worker, version, expires, finished, size, record"


class SqliteTasks:
    """Tasks that all processes on one machine see."""

    def __init__(self, database: Database, bus: SqliteBus, limits: Limits, *, clock: Clock) -> None:
        self._database = database
        self._bus = bus
        self._limits = limits
        self._clock = clock
        self._watch = TaskWatch(bus, self.load)

    async def add(self, record: TaskRecord) -> TaskRecord:
        def work(connection: sqlite3.Connection) -> TaskRecord:
            _evict(connection, self._clock())
            self._check_room(connection, record)
            values = (record.id, *_values(record))
            added = connection.execute(
                f"insert into tasks (id, {COLUMNS}) values (?,?,?,?,?,?,?,?,?)", values
            )
            return replace(record, serial=added.lastrowid)

        return await self._database.write(work)

    def _check_room(self, connection: sqlite3.Connection, record: TaskRecord) -> None:
        limits = self._limits
        (count,) = connection.execute("select count(*) from tasks").fetchone()
        if count >= limits.tasks:
            raise StoreFull(f"too many tasks: limit {limits.tasks}")
        if record.owner:
            (owned,) = connection.execute(
                "select count(*) from tasks where owner = ?", (record.owner,)
            ).fetchone()
            if owned >= limits.client_tasks:
                raise StoreFull(f"too many tasks of one caller: limit {limits.client_tasks}")
        self._check_bytes(connection, record.size)

    def _check_bytes(self, connection: sqlite3.Connection, size: int) -> None:
        (total,) = connection.execute("select task_bytes from totals").fetchone()
        if size > 0 and total + size > self._limits.task_bytes:
            raise StoreFull(f"tasks keep too many bytes: limit {self._limits.task_bytes}")

    async def load(self, task_id: str) -> TaskRecord | None:
        statement = "select serial, record from tasks where id = ? and expires > ?"
        rows = self._database.read(statement, (task_id, self._clock()))
        return _record(rows[0]) if rows else None

    async def swap(self, record: TaskRecord) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            row = connection.execute(
                "select size from tasks where id = ? and version = ? and expires > ?",
                (record.id, record.version - 1, self._clock()),
            ).fetchone()
            if row is None:
                return False
            self._check_bytes(connection, record.size - row[0])
            connection.execute(
                f"update tasks set ({COLUMNS}) = (?,?,?,?,?,?,?,?) where id = ?",
                (*_values(record), record.id),
            )
            self._bus.enter(connection, [BusMessage(TASKS, record.id.encode())])
            return True

        changed = await self._database.write(work)
        if changed:
            self._watch.notify(record)
        return changed

    async def page(self, owner: str, form: str, after: int, limit: int) -> list[TaskRecord]:
        statement = (
            "select serial, record from tasks where owner = ? and form = ? and serial > ? and expires > ?"
            " order by serial limit ?"
        )
        rows = self._database.read(statement, (owner, form, after, self._clock(), limit))
        return [_record(row) for row in rows]

    async def newest(self) -> int:
        rows = self._database.read("select seq from sqlite_sequence where name = 'tasks'")
        return int(rows[0][0]) if rows else 0

    async def unfinished(self, worker: str) -> list[TaskRecord]:
        statement = "select serial, record from tasks where worker = ? and not finished order by serial"
        return [_record(row) for row in self._database.read(statement, (worker,))]

    async def evict(self) -> list[str]:
        now = self._clock()
        if not self._database.read("select 1 from tasks where expires <= ? limit 1", (now,)):
            return []
        return await self._database.write(lambda connection: _evict(connection, now))

    async def next_expiry(self) -> float | None:
        return self._database.read("select min(expires) from tasks")[0][0]  # type: ignore[no-any-return]

    def watch(self, notify: Callable[[TaskRecord], None]) -> Callable[[], None]:
        return self._watch.add(notify)


def _values(record: TaskRecord) -> tuple[Any, ...]:
    return (
        *(record.owner, record.form, record.worker, record.version, record.expires),
        *(record.is_finished, record.size, encode_task(record)),
    )


def _record(row: tuple[int, bytes]) -> TaskRecord:
    return decode_task(row[1], row[0])


def _evict(connection: sqlite3.Connection, now: float) -> list[str]:
    # In order of expiry, as in memory.
    rows = connection.execute("select id from tasks where expires <= ? order by expires", (now,)).fetchall()
    connection.execute("delete from tasks where expires <= ?", (now,))
    return [task_id for (task_id,) in rows]
