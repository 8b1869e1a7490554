"""A store in the memory of one process: all ports, with what they keep bounded."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

from assay.model.limits import Limits

from .bucket import Bucket
from .memory import Clock, MemoryEvents, MemorySessions
from .port import BusMessage, Deliver, StateRecord, Store, StoreFull
from .task_memory import MemoryTasks

REPLAY_KEYS: Final = 100_000
BUCKETS: Final = 10_000


class MemoryStore(Store):
    """Everything ends with the process."""

    is_shared = False

    def __init__(
        self, limits: Limits | None = None, *, idle_timeout: float = 1800.0, clock: Clock = time.time
    ) -> None:
        limits = limits or Limits()
        self.sessions = MemorySessions(idle_timeout=idle_timeout, clock=clock)
        self.events = MemoryEvents(total_bytes=limits.event_bytes)
        self.tasks = MemoryTasks(limits, clock=clock)
        self.state = MemoryState(limits.principals)
        self.replay = MemoryReplay(clock=clock)
        self.limits = MemoryLimits(clock=clock)
        self.bus = MemoryBus()

    async def start(self) -> None:
        """Nothing to connect to."""

    async def close(self) -> None:
        """Nothing to disconnect from."""

    async def check(self) -> None:
        """It is always there."""

    @property
    def name(self) -> str:
        return "memory:"


class MemoryState:
    """Kept state of principals."""

    def __init__(self, principals: int) -> None:
        self._principals = principals
        self._records: OrderedDict[str, StateRecord] = OrderedDict()

    def peek(self, owner: str) -> StateRecord:
        if owner in self._records:
            self._records.move_to_end(owner)
        return self._records.get(owner, StateRecord({}))

    async def swap(self, owner: str, record: StateRecord) -> bool:
        if self.peek(owner).version + 1 != record.version:
            return False
        self._records[owner] = record
        if len(self._records) > self._principals:
            self._records.popitem(last=False)
        return True


class MemoryReplay:
    """Keys that may be used once."""

    def __init__(self, keys: int = REPLAY_KEYS, *, clock: Clock = time.time) -> None:
        self._limit = keys
        self._clock = clock
        self._expiries: OrderedDict[bytes, float] = OrderedDict()

    async def add(self, key: bytes, expires: float) -> bool:
        now = self._clock()
        if self._expiries.get(key, now) > now:
            return False
        self._expiries.pop(key, None)
        while self._expiries and next(iter(self._expiries.values())) <= now:
            self._expiries.popitem(last=False)
        if len(self._expiries) >= self._limit:
            raise StoreFull(f"too many keys that have not expired: limit {self._limit}")
        self._expiries[key] = expires
        return True


class MemoryLimits:
    """Token buckets."""

    def __init__(self, buckets: int = BUCKETS, *, clock: Clock = time.time) -> None:
        self._limit = buckets
        self._clock = clock
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    async def take(self, key: str, rate: float, burst: float) -> float:
        bucket, wait = self._buckets.get(key, Bucket(burst, self._clock())).take(self._clock(), rate, burst)
        self._buckets[key] = bucket
        self._buckets.move_to_end(key)
        if len(self._buckets) > self._limit:
            self._buckets.popitem(last=False)
        return wait


class MemoryBus:
    """The bus of a process that shares its store with no other: nothing arrives."""

    worker = "local"

    async def publish(self, messages: Sequence[BusMessage]) -> None:
        """Other processes do not exist."""

    def subscribe(self, topic: str, deliver: Deliver) -> Callable[[], None]:
        return lambda: None

    async def is_alive(self, worker: str) -> bool:
        return worker == self.worker
