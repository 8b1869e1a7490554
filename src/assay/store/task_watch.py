"""Notice of changed tasks, in the process that changed one and in all others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Final

from assay.model.error import StoreAway
from assay.model.task import TaskRecord

from .port import Bus, BusMessage

TASKS: Final = "tasks"
"""The topic of ids of changed tasks."""
Notify = Callable[[TaskRecord], None]


class TaskWatch:
    """Calls functions with new versions of tasks."""

    def __init__(self, bus: Bus, load: Callable[[str], Awaitable[TaskRecord | None]]) -> None:
        self._load = load
        self._watchers: dict[int, Notify] = {}
        self._numbers = count()
        self._loading: set[asyncio.Task[None]] = set()
        bus.subscribe(TASKS, self._receive)

    def add(self, notify: Notify) -> Callable[[], None]:
        number = next(self._numbers)
        self._watchers[number] = notify
        return lambda: self._watchers.pop(number, None) and None

    def notify(self, record: TaskRecord) -> None:
        for notify in list(self._watchers.values()):
            notify(record)

    def _receive(self, message: BusMessage) -> None:
        if self._watchers:
            task = asyncio.get_running_loop().create_task(self._load_and_notify(message.data.decode()))
            self._loading.add(task)
            task.add_done_callback(self._loading.discard)

    async def _load_and_notify(self, task_id: str) -> None:
        try:
            record = await self._load(task_id)
        except StoreAway:
            return  # a client that waits for the task reads it again
        if record is not None:
            self.notify(record)
