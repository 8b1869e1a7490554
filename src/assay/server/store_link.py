"""Connects a server with the other processes that share its store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.model.error import StoreAway
from assay.model.visible import visible_record
from assay.server.dispatch.notifier import ChangeNotifier
from assay.store.port import BusMessage, Store

logger = logging.getLogger("assay")
logger.addFilter(visible_record)

CHANGES: Final = "changes"
"""The topic of changed lists and resources."""


class Changes(Struct):
    lists: list[str] = []
    uris: list[str] = []


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Changes).decode


class StoreLink:
    """Starts the store with the server, and passes changes to and from other processes."""

    def __init__(self, store: Store, notifier: ChangeNotifier) -> None:
        self.store = store
        self._notifier = notifier
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """
        Raises:
            StoreError: the store cannot be used.
        """
        await self.store.start()
        unsubscribe = self.store.bus.subscribe(CHANGES, self._receive)
        self._notifier.connect(self._forward)
        try:
            yield
        finally:
            unsubscribe()
            self._notifier.disconnect(self._forward)
            if self._tasks:
                await asyncio.wait(self._tasks)
            await self.store.close()

    def _receive(self, message: BusMessage) -> None:
        changes = _decode(message.data)
        self._notifier.deliver(changes.lists, changes.uris)

    def _forward(self, lists: Iterable[str], uris: Iterable[str]) -> None:
        message = BusMessage(CHANGES, _encode(Changes(list(lists), list(uris))))
        self._spawn(self.store.bus.publish([message]))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except StoreAway as error:
        logger.warning("a change was not announced to other processes: %s", error)
