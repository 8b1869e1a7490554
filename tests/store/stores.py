"""Opens the stores of the contract tests."""

from __future__ import annotations

import tempfile
from pathlib import Path

from assay.model.limits import Limits
from assay.store.memory_store import MemoryStore
from assay.store.port import EventStore, SessionStore, SharedStore, Store, TaskStore
from assay.store.redis.link import read_prefix
from assay.store.redis.store import RedisStore
from assay.store.sqlite.store import SqliteStore

from .backend import RedisBackend


class ManualClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Stores:
    """Opens stores of one kind, and closes them after the test."""

    def __init__(self, kind: str, directory: Path, redis_port: int) -> None:
        self.kind = kind
        self._directory = directory
        self._redis_port = redis_port
        self._open: list[Store] = []

    async def store(
        self, clock: ManualClock | None = None, idle_timeout: float = 60.0, limits: Limits | None = None
    ) -> Store:
        store = self._make(clock or ManualClock(), idle_timeout, limits or Limits())
        await store.start()
        self._open.append(store)
        return store

    def _make(self, clock: ManualClock, idle_timeout: float, limits: Limits) -> Store:
        if self.kind == "memory":
            return MemoryStore(limits, idle_timeout=idle_timeout, clock=clock)
        if self.kind == "sqlite":
            path = Path(tempfile.mkdtemp(dir=self._directory)) / "state.db"
            return SqliteStore(path, limits, idle_timeout=idle_timeout, clock=clock)
        url, prefix = read_prefix(RedisBackend(self._redis_port).url)
        return RedisStore(url, prefix, limits, idle_timeout=idle_timeout, clock=clock)

    async def shared(self, clock: ManualClock | None = None, idle_timeout: float = 60.0) -> SharedStore:
        store = await self.store(clock, idle_timeout)
        assert isinstance(store, SharedStore)
        return store

    async def sessions(self, clock: ManualClock, idle_timeout: float) -> SessionStore:
        return (await self.store(clock, idle_timeout)).sessions

    async def events(self) -> EventStore:
        return (await self.store()).events

    async def tasks(self, clock: ManualClock, limits: Limits) -> TaskStore:
        return (await self.store(clock, limits=limits)).tasks

    async def close(self) -> None:
        for store in self._open:
            await store.close()
