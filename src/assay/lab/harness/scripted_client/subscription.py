"""A `subscriptions/listen` request, which stays open until the client ends it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from .failure import ConnectionBroken, StepFailed
from .transport import Json

if TYPE_CHECKING:
    from .client import ScriptedClient

METHOD: Final = "subscriptions/listen"
MOST_TRIES: Final = 4
PAUSE: Final = 0.2
"""Seconds before a broken stream is reopened."""


class Subscription:
    def __init__(self, client: ScriptedClient, notifications: Json) -> None:
        self._client = client
        self.notifications = notifications
        self.id: Any = None
        self._acknowledged = asyncio.Event()
        self._task: asyncio.Task[Json] | None = None

    async def open(self) -> None:
        """
        Raises:
            StepFailed: the server refused the subscription, or did not acknowledge it in time.
        """
        self._acknowledged.clear()
        self._task = self._client.task(self._listen())
        waiting = asyncio.create_task(self._acknowledged.wait())
        patience = self._client.behaviour.patience
        await asyncio.wait({self._task, waiting}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if not self._acknowledged.is_set():
            if self._task.done():
                self._task.result()
            raise StepFailed(f"{METHOD} was not acknowledged")

    async def _listen(self) -> Json:
        def on_id(request_id: Any) -> None:
            self.id = request_id

        for _ in range(MOST_TRIES):
            with suppress(ConnectionBroken):
                params = {"notifications": self.notifications}
                return await self._client.ask(METHOD, params, timeout=None, on_id=on_id)
            if not self._client.hangs_up or not self._client.behaviour.reissues:
                break  # the client reconnects first, and reopens all subscriptions then
            await asyncio.sleep(PAUSE)
        raise ConnectionBroken(f"{METHOD} ended unexpectedly")

    def acknowledge(self) -> None:
        self._acknowledged.set()

    async def close(self) -> None:
        """Sends a cancellation where the request has no HTTP stream that could be closed."""
        if self._task is None:
            return
        if not self._task.done() and not self._client.hangs_up:
            await self._client.notify("notifications/cancelled", {"requestId": self.id})
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
