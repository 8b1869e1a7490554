"""Messages between processes, as rows of a table.

Each process asks at short intervals whether another has committed anything (`PRAGMA data_version`, about a
microsecond), and reads the new rows if so.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Final

from assay.model.error import StoreAway
from assay.store.port import BusMessage, Deliver
from assay.store.subscriptions import Subscriptions, worker_name

from .database import Database

INTERVAL: Final = 0.005
"""Seconds between two looks: the longest delay of a message, apart from the load of the machine."""
HEARTBEAT: Final = 1.0
"""Seconds between two signs of life of a process."""
ALIVE: Final = 3.0
"""Seconds after the last sign of life until a process counts as dead."""
LIFETIME: Final = 30.0
"""Seconds that a message is kept: a process that looks away for longer misses it."""
FORGOTTEN: Final = 3600.0
"""Seconds after which a dead process is deleted from the list."""


class SqliteBus:
    """The bus of the processes that use one file."""

    def __init__(self, database: Database) -> None:
        self.worker = ""
        self._database = database
        self._subscriptions = Subscriptions()
        self._version = -1
        self._read_up_to = 0
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self.worker = worker_name(self.worker)
        rows = self._database.read("select seq from sqlite_sequence where name = 'bus'")
        self._read_up_to = rows[0][0] if rows else 0
        await self.show_life()
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._poll()), loop.create_task(self._beat())]

    async def stop(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        if not tasks:
            return
        await asyncio.wait(tasks)
        statement, values = "delete from workers where name = ?", (self.worker,)
        try:
            await self._database.write(lambda connection: connection.execute(statement, values))
        except StoreAway:
            pass  # without a sign of life, it counts as dead in a moment

    def subscribe(self, topic: str, deliver: Deliver) -> Callable[[], None]:
        return self._subscriptions.add(topic, deliver)

    async def publish(self, messages: Sequence[BusMessage]) -> None:
        if messages:
            await self._database.write(lambda connection: self.enter(connection, messages))

    def enter(self, connection: sqlite3.Connection, messages: Sequence[BusMessage]) -> None:
        """Publish as part of a transaction."""
        now = time.time()
        connection.executemany(
            "insert into bus (at, origin, topic, data) values (?, ?, ?, ?)",
            [(now, self.worker, message.topic, message.data) for message in messages],
        )

    async def is_alive(self, worker: str) -> bool:
        if worker == self.worker:
            return True
        rows = self._database.read("select seen from workers where name = ?", (worker,))
        return bool(rows) and rows[0][0] > time.time() - ALIVE

    async def show_life(self) -> None:
        statement, values = "insert or replace into workers values (?, ?)", (self.worker, time.time())
        await self._database.write(lambda connection: connection.execute(statement, values))

    async def sweep(self) -> None:
        """Delete old messages and processes that ended without a word."""
        now = time.time()

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("delete from bus where at < ?", (now - LIFETIME,))
            connection.execute("delete from workers where seen < ?", (now - FORGOTTEN,))

        await self._database.write(work)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            try:
                await self.show_life()
            except StoreAway:
                continue  # logged there; the next beat tries again

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL)
            try:
                self._look()
            except StoreAway:
                await asyncio.sleep(HEARTBEAT)

    def _look(self) -> None:
        ((version,),) = self._database.read("pragma data_version")
        if version == self._version:
            return
        self._version = version
        rows = self._database.read(
            "select id, origin, topic, data from bus where id > ? order by id", (self._read_up_to,)
        )
        for number, origin, topic, data in rows:
            self._read_up_to = number
            if origin != self.worker:
                self._subscriptions.deliver(BusMessage(topic, data))
