"""The store behind `sqlite:///FILE`."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Final, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from assay.model.error import StoreAway, StoreError
from assay.model.limits import Limits
from assay.store.memory import Clock
from assay.store.port import SharedStore

from .bus import SqliteBus
from .database import Database
from .events import SqliteEvents
from .sessions import SqliteSessions
from .state import SqliteLimits, SqliteReplay, SqliteState
from .tasks import SqliteTasks

SWEEP_INTERVAL: Final = 10.0
CHECKPOINT_INTERVAL: Final = 1.0
SYNCHRONOUS: Final = ("normal", "full")
FORM: Final = "write sqlite:///state.db, or sqlite:////var/lib/state.db for an absolute path"


class SqliteStore(SharedStore):
    """Everything in one file in WAL mode.

    With `synchronous=normal`, what was acknowledged survives the end of any process; a power failure may take
    the last moments. With `synchronous=full`, each transaction is on the disk before it is acknowledged.
    """

    def __init__(
        self,
        path: Path,
        limits: Limits | None = None,
        *,
        synchronous: str = "normal",
        idle_timeout: float = 1800.0,
        clock: Clock = time.time,
    ) -> None:
        limits = limits or Limits()
        self._database = database = Database(path, synchronous)
        self.sessions: SqliteSessions = SqliteSessions(database, idle_timeout=idle_timeout, clock=clock)
        self.events: SqliteEvents = SqliteEvents(database, total_bytes=limits.event_bytes)
        self.bus: SqliteBus = SqliteBus(database)
        self.tasks: SqliteTasks = SqliteTasks(database, self.bus, limits, clock=clock)
        self.state: SqliteState = SqliteState(database, limits.principals, clock=clock)
        self.replay: SqliteReplay = SqliteReplay(database, clock=clock)
        self.limits: SqliteLimits = SqliteLimits(database, clock=clock)
        self._housekeeping: asyncio.Task[None] | None = None

    @classmethod
    def from_url(cls, url: str, limits: Limits) -> Self:
        """
        Raises:
            StoreError: the URL is wrong.
        """
        parts = urlsplit(url)
        path = unquote(parts.path)
        if not url.startswith("sqlite:///") or path in ("", "/") or path == "/:memory:" or "\0" in path:
            raise StoreError(f"not the URL of a file: {url!r:.120}", FORM)
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        synchronous = options.pop("synchronous", "normal")
        if options or synchronous not in SYNCHRONOUS:
            raise StoreError(
                f"not an option of an SQLite store: {parts.query!r:.80}",
                "write ?synchronous=full, or nothing",
            )
        return cls(Path(path[1:]), limits, synchronous=synchronous)

    @property
    def name(self) -> str:
        return f"sqlite:///{self._database.path}"

    async def start(self) -> None:
        if self._database.is_open:
            return
        self._database.open()
        await self.bus.start()
        self._housekeeping = asyncio.get_running_loop().create_task(self._keep_house())

    async def close(self) -> None:
        task, self._housekeeping = self._housekeeping, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        await self.bus.stop()
        self._database.close()

    async def check(self) -> None:
        self._database.check()

    async def _keep_house(self) -> None:
        due = time.monotonic() + SWEEP_INTERVAL
        while True:
            await asyncio.sleep(CHECKPOINT_INTERVAL)
            await asyncio.to_thread(self._database.checkpoint)
            if time.monotonic() < due:
                continue
            due = time.monotonic() + SWEEP_INTERVAL
            try:
                await self.bus.sweep()
            except StoreAway:
                continue  # logged there
