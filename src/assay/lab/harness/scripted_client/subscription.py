"""A `subscriptions/listen` of the client, which stays open until the client ends it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from .failure import Broken, Failed
from .transport import Json

if TYPE_CHECKING:
    from .client import ScriptedClient

METHOD: Final = "subscriptions/listen"
MOST_TRIES: Final = 4
PAUSE: Final = 0.2
"""Seconds before a stream that broke is opened again."""


class Subscription:
    def __init__(self, client: ScriptedClient, wanted: Json) -> None:
        self._client = client
        self.wanted = wanted
        self.id: Any = None
        self._acknowledged = asyncio.Event()
        self._task: asyncio.Task[Json] | None = None

    async def open(self) -> None:
        """
        Raises:
            Failed: it is refused, or not acknowledged in time.
        """
        self._acknowledged.clear()
        self._task = self._client.task(self._stay())
        waiting = asyncio.create_task(self._acknowledged.wait())
        patience = self._client.behaviour.patience
        await asyncio.wait({self._task, waiting}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if not self._acknowledged.is_set():
            if self._task.done():
                self._task.result()
            raise Failed(f"{METHOD} was not acknowledged")

    async def _stay(self) -> Json:
        def known(name: Any) -> None:
            self.id = name

        for _ in range(MOST_TRIES):
            with suppress(Broken):
                return await self._client.ask(
                    METHOD, {"notifications": self.wanted}, timeout=None, told=known
                )
            if not self._client.hangs_up or not self._client.behaviour.reissues:
                break  # the connection has to be made anew first, and that brings all subscriptions back
            await asyncio.sleep(PAUSE)
        raise Broken(f"{METHOD} ended without being asked to")

    def acknowledge(self) -> None:
        self._acknowledged.set()

    async def close(self) -> None:
        """Where a request has no stream of its own to close, say so."""
        if self._task is None:
            return
        if not self._task.done() and not self._client.hangs_up:
            await self._client.notify("notifications/cancelled", {"requestId": self.id})
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
