"""Messages between processes, on one Redis stream.

Not by publish and subscribe, which loses what is sent while a connection is renewed: each process remembers
the id of the last message that it has read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final

from assay.model.error import StoreAway
from assay.model.visible import visible_record
from assay.store.port import BusMessage, Deliver
from assay.store.subscriptions import Subscriptions, worker_name

from .link import RedisLink

logger = logging.getLogger("assay")
logger.addFilter(visible_record)

MESSAGES: Final = 10_000
"""Messages that are kept, roughly: a process that is away for longer misses some."""
READ_AT_ONCE: Final = 1000
BLOCK: Final = 1000
"""Milliseconds that Redis holds a reader. Less than the time-out of the connection."""
HEARTBEAT: Final = 1.0
ALIVE: Final = 3
"""Seconds after the last sign of life until a process counts as dead."""
RETRY: Final = 0.2
"""Seconds between two attempts to reach Redis."""


class RedisBus:
    """The bus of the processes that use one Redis."""

    def __init__(self, link: RedisLink) -> None:
        self.worker = ""
        self.is_connected = False
        """Whether messages arrive at once. Otherwise nothing that depends on them may be believed."""
        self._gap_watchers: list[Callable[[], None]] = []
        self._link = link
        self._key = link.key("bus")
        self._subscriptions = Subscriptions()
        self._last = b"0-0"
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self.worker = worker_name(self.worker)
        newest = await self._link.run(self._link.client.xrevrange(self._key, count=1))
        self._last = newest[0][0] if newest else b"0-0"
        await self.show_life()
        self.is_connected = True
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._read()), loop.create_task(self._beat())]

    async def stop(self) -> None:
        tasks, self._tasks = self._tasks, []
        self.is_connected = False
        if not tasks:
            return
        running = set(tasks)
        while running:
            # More than once: a cancellation that meets a time-out of the client is lost.
            for task in running:
                task.cancel()
            _, running = await asyncio.wait(running, timeout=0.1)
        try:
            await self._link.run(self._link.client.delete(self._life(self.worker)))
        except StoreAway:
            pass  # the sign of life expires in a moment

    def subscribe(self, topic: str, deliver: Deliver) -> Callable[[], None]:
        return self._subscriptions.add(topic, deliver)

    def on_gap(self, notify: Callable[[], None]) -> None:
        """Call a function when messages may have been missed."""
        self._gap_watchers.append(notify)

    async def publish(self, messages: Sequence[BusMessage]) -> None:
        if not messages:
            return
        pipeline = self._link.client.pipeline(transaction=False)
        for message in messages:
            fields: dict[Any, Any] = {"o": self.worker, "t": message.topic, "d": message.data}
            pipeline.xadd(self._key, fields, maxlen=MESSAGES, approximate=True)
        await self._link.run(pipeline.execute())

    def _life(self, worker: str) -> str:
        return self._link.key(f"worker-{worker}")

    async def is_alive(self, worker: str) -> bool:
        return worker == self.worker or bool(
            await self._link.run(self._link.client.exists(self._life(worker)))
        )

    async def show_life(self) -> None:
        await self._link.run(self._link.client.set(self._life(self.worker), 1, ex=ALIVE))

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            try:
                await self.show_life()
            except StoreAway:
                continue  # logged there; the next beat tries again

    async def _read(self) -> None:
        while True:
            try:
                await self._read_some()
            except StoreAway:
                self.is_connected = False
                await asyncio.sleep(RETRY)

    async def _read_some(self) -> None:
        if not self.is_connected:
            await self._reconnect()
        read = self._link.client.xread({self._key: self._last}, count=READ_AT_ONCE, block=BLOCK)
        entries: Any = await self._link.run(read)
        for number, fields in _entries(entries):
            self._last = number
            if fields[b"o"].decode() != self.worker:
                self._subscriptions.deliver(BusMessage(fields[b"t"].decode(), fields[b"d"]))

    async def _reconnect(self) -> None:
        """Continue after the last message that was read; report it if there may be none after it any more."""
        oldest = await self._link.run(self._link.client.xrange(self._key, count=1))
        if not oldest or _number(oldest[0][0]) > _number(self._last):
            for notify in self._gap_watchers:
                notify()
        self.is_connected = True


def _entries(read: Any) -> list[tuple[bytes, dict[bytes, bytes]]]:
    """The entries of an answer, in either version of the protocol."""
    if not read:
        return []
    if isinstance(read, dict):
        return [entry for (entries,) in read.values() for entry in entries]
    return [entry for _, entries in read for entry in entries]


def _number(entry: bytes) -> tuple[int, int]:
    time, _, sequence = entry.partition(b"-")
    return int(time), int(sequence)
