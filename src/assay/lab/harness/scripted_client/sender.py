"""Sending of the client's messages, unchanged or as a fault alters them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import msgspec

from .failure import StepFailed
from .transport import Json, PendingCall

if TYPE_CHECKING:
    from .client import ScriptedClient


class MessageSender:
    def __init__(self, client: ScriptedClient) -> None:
        self._client = client

    def altered(self, message: Json) -> list[Any]:
        """The messages to send in place of `message`. Saboteurs of messages act here."""
        hook = self._client.saboteur.message if self._client.saboteur else None
        changed = message if hook is None else hook(deepcopy(message), self._client)
        if changed is None:
            return []
        return changed if isinstance(changed, list) else [changed]

    async def send(self, items: list[Any], call: PendingCall | None) -> None:
        """Send the items in order. Failures of messages that a fault added are ignored.

        Raises:
            StepFailed: the call cannot be sent, or can no longer be answered.
        """
        if call is not None and not items:
            raise StepFailed(f"{call.method} was never sent")
        main = None if call is None else _main(items, call.method)
        sending: asyncio.Task[None] | None = None
        for place, item in enumerate(items):
            if place == main:
                sending = self._client.task(self._send(item, call))
                await asyncio.sleep(0)  # so that it is written before the items that follow
            elif call is None and place == 0:
                await self._send(item, None)
            else:
                with suppress(StepFailed):
                    await self._send(item, None)
        if sending is not None:
            await sending

    async def _send(self, item: Any, call: PendingCall | None) -> None:
        body = item if isinstance(item, bytes) else msgspec.json.encode(item)
        await self._client.connection.send(body, item, call)


def _main(items: list[Any], method: str) -> int:
    """The index of the message that is the request: the first with its method, else the first."""
    for place, item in enumerate(items):
        if isinstance(item, dict) and item.get("method") == method:
            return place
    return 0


def id_of(items: list[Any], message: Json) -> Any:
    """The id that the answer will have: the one that was sent, which a fault may have changed."""
    item = items[_main(items, message["method"])] if items else message
    return item.get("id") if isinstance(item, dict) else message["id"]
