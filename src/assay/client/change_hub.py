"""Passes changes of the server to those parts of a client that are interested, over all its sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Protocol

from assay.model.notice import Change


class ChangeStream(Protocol):
    """Takes the changes that it asked for."""

    def acknowledge(self, kinds: Collection[str], uris: Collection[str]) -> None:
        """The server announces changes of these lists and resources from now on."""
        ...

    def post(self, change: Change) -> None: ...


class ChangeHub:
    """Changes of a server, of all sessions of a client one after the other."""

    def __init__(self) -> None:
        self.observers: list[Callable[[Change], None]] = []
        """Called with each change before anything else: what the client has kept is stale."""
        self.streams: set[ChangeStream] = set()
        """Those of revisions in which servers announce changes to everyone."""
        self.tasks: set[asyncio.Task[None]] = set()

    def observe(self, change: Change) -> None:
        for observer in self.observers:
            observer(change)

    def publish(self, change: Change) -> None:
        for stream in list(self.streams):
            stream.post(change)

    def spawn(self, task: asyncio.Task[None]) -> None:
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def close(self, timeout: float) -> None:
        tasks = [task for task in self.tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=timeout)
