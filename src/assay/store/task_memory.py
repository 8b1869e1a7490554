"""Tasks in memory, limited in number, bytes and time."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from itertools import count, islice

from msgspec.structs import replace

from assay.model.limits import Limits
from assay.model.task import TaskRecord

from .memory import Clock
from .port import StoreFull


class MemoryTasks:
    """Tasks of one process. They end with it."""

    def __init__(self, limits: Limits | None = None, *, clock: Clock = time.time) -> None:
        self._limits = limits or Limits()
        self._clock = clock
        self._records: dict[str, TaskRecord] = {}
        self._by_owner: dict[str, dict[str, None]] = {}
        """Ids of each owner's tasks, in order of creation."""
        self._expiries: list[tuple[float, str]] = []
        """A heap; a task leaves it when it expires."""
        self._bytes = 0
        self._serials = count(1)
        self._newest = 0
        self._watchers: dict[int, Callable[[TaskRecord], None]] = {}
        self._watcher_ids = count()

    def __len__(self) -> int:
        return len(self._records)

    @property
    def kept_bytes(self) -> int:
        return self._bytes

    async def add(self, record: TaskRecord) -> TaskRecord:
        await self.evict()
        owned = self._by_owner.get(record.owner, {})
        if len(self._records) >= self._limits.tasks:
            raise StoreFull(f"too many tasks: limit {self._limits.tasks}")
        if record.owner and len(owned) >= self._limits.client_tasks:
            raise StoreFull(f"too many tasks of one caller: limit {self._limits.client_tasks}")
        self._reserve(record.size)
        self._newest = next(self._serials)
        stored = replace(record, serial=self._newest)
        self._records[record.id] = stored
        self._by_owner.setdefault(record.owner, {})[record.id] = None
        heapq.heappush(self._expiries, (record.expires, record.id))
        return stored

    def _reserve(self, size: int) -> None:
        if size > 0 and self._bytes + size > self._limits.task_bytes:
            raise StoreFull(f"tasks keep too many bytes: limit {self._limits.task_bytes}")
        self._bytes += size

    async def load(self, task_id: str) -> TaskRecord | None:
        record = self._records.get(task_id)
        return None if record is None or record.expires <= self._clock() else record

    async def swap(self, record: TaskRecord) -> bool:
        stored = await self.load(record.id)
        if stored is None or stored.version + 1 != record.version:
            return False
        self._reserve(record.size - stored.size)
        self._records[record.id] = record
        for notify in list(self._watchers.values()):
            notify(record)
        return True

    async def page(self, owner: str, form: str, after: int, limit: int) -> list[TaskRecord]:
        now = self._clock()
        owned = (self._records[task_id] for task_id in self._by_owner.get(owner, ()))
        visible = (
            record
            for record in owned
            if record.serial > after and record.form == form and record.expires > now
        )
        return list(islice(visible, limit))

    async def newest(self) -> int:
        return self._newest

    async def unfinished(self, worker: str) -> list[TaskRecord]:
        return [
            record for record in self._records.values() if record.worker == worker and not record.is_finished
        ]

    async def evict(self) -> list[str]:
        now, evicted = self._clock(), []
        while self._expiries and self._expiries[0][0] <= now:
            _, task_id = heapq.heappop(self._expiries)
            self._delete(self._records.pop(task_id))
            evicted.append(task_id)
        return evicted

    def _delete(self, record: TaskRecord) -> None:
        self._bytes -= record.size
        owned = self._by_owner[record.owner]
        del owned[record.id]
        if not owned:
            del self._by_owner[record.owner]

    async def next_expiry(self) -> float | None:
        return self._expiries[0][0] if self._expiries else None

    def watch(self, notify: Callable[[TaskRecord], None]) -> Callable[[], None]:
        number = next(self._watcher_ids)
        self._watchers[number] = notify
        return lambda: self._watchers.pop(number, None) and None
