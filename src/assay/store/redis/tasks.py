"""Tasks in Redis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from assay.model.limits import Limits
from assay.model.task import TaskRecord
from assay.store.memory import Clock
from assay.store.port import BusMessage, StoreFull
from assay.store.task_json import decode_task, encode_task
from assay.store.task_watch import TASKS, TaskWatch

from . import script
from .bus import RedisBus
from .link import RedisLink

EVICTED_AT_ONCE: Final = 500
READ_AT_ONCE: Final = 100
PROBLEMS: Final = {
    "tasks": "too many tasks",
    "client_tasks": "too many tasks of one caller",
    "task_bytes": "tasks keep too many bytes",
}


class RedisTasks:
    """Tasks that all processes on all machines see."""

    def __init__(self, link: RedisLink, bus: RedisBus, limits: Limits, *, clock: Clock) -> None:
        self._link = link
        self._bus = bus
        self._limits = limits
        self._clock = clock
        self._prefix = link.key("tasks")
        self._watch = TaskWatch(bus, self.load)

    def _full(self, limit: str) -> StoreFull:
        return StoreFull(f"{PROBLEMS[limit]}: limit {getattr(self._limits, limit)}")

    async def add(self, record: TaskRecord) -> TaskRecord:
        await self.evict()
        limits = self._limits
        outcome, detail = await self._link.script(
            script.TASK_ADD,
            [self._prefix],
            *(record.id, encode_task(record), record.owner, record.form, record.worker, record.expires),
            *(record.size, self._clock(), limits.tasks, limits.client_tasks, limits.task_bytes),
        )
        if outcome == b"full":
            raise self._full(detail.decode())
        return replace(record, serial=detail)

    async def load(self, task_id: str) -> TaskRecord | None:
        (record,) = await self._read([task_id])
        return record

    async def _read(self, task_ids: list[str]) -> list[TaskRecord | None]:
        pipeline = self._link.client.pipeline(transaction=False)
        for task_id in task_ids:
            pipeline.hmget(f"{self._prefix}:t:{task_id}", "record", "serial")
        now = self._clock()
        return [_record(row, now) for row in await self._link.run(pipeline.execute())]

    async def swap(self, record: TaskRecord) -> bool:
        outcome = await self._link.script(
            script.TASK_SWAP,
            [self._prefix],
            *(record.id, encode_task(record), record.version, record.size, self._clock()),
            *(self._limits.task_bytes, int(record.is_finished)),
        )
        if outcome == b"full":
            raise self._full("task_bytes")
        if outcome != b"stored":
            return False
        await self._bus.publish([BusMessage(TASKS, record.id.encode())])
        self._watch.notify(record)
        return True

    async def page(self, owner: str, form: str, after: int, limit: int) -> list[TaskRecord]:
        listed: list[TaskRecord] = []
        key, start = f"{self._prefix}:of:{owner}", after
        while len(listed) < limit:
            rows: list[tuple[bytes, float]] = await self._link.run(
                self._link.client.zrangebyscore(
                    key, f"({start}", "+inf", start=0, num=READ_AT_ONCE, withscores=True
                )
            )
            if not rows:
                break
            start = int(rows[-1][1])
            records = await self._read([task_id.decode() for task_id, _ in rows])
            listed += [record for record in records if record is not None and record.form == form]
        return listed[:limit]

    async def newest(self) -> int:
        return int(await self._link.run(self._link.client.get(f"{self._prefix}:serial")) or 0)

    async def unfinished(self, worker: str) -> list[TaskRecord]:
        ids = await self._link.run(self._link.client.zrange(f"{self._prefix}:by:{worker}", 0, -1))
        records = await self._read([task_id.decode() for task_id in ids]) if ids else []
        return [record for record in records if record is not None]

    async def evict(self) -> list[str]:
        evicted: list[str] = []
        while ids := await self._link.script(
            script.TASK_EVICT, [self._prefix], self._clock(), EVICTED_AT_ONCE
        ):
            evicted += [task_id.decode() for task_id in ids]
        return evicted

    async def next_expiry(self) -> float | None:
        first = self._link.client.zrange(f"{self._prefix}:expiry", 0, 0, withscores=True)
        rows: list[tuple[bytes, float]] = await self._link.run(first)
        return rows[0][1] if rows else None

    def watch(self, notify: Callable[[TaskRecord], None]) -> Callable[[], None]:
        return self._watch.add(notify)


def _record(row: list[Any], now: float) -> TaskRecord | None:
    data, serial = row
    if data is None:
        return None
    record = decode_task(data, int(serial))
    return None if record.expires <= now else record
