"""How the guest's messages go out: as they are, or as a fault makes them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import msgspec

from .failure import Failed
from .transport import Call, Json

if TYPE_CHECKING:
    from .client import ScriptedClient


class MessageSender:
    def __init__(self, client: ScriptedClient) -> None:
        self._client = client

    def altered(self, message: Json) -> list[Any]:
        """What goes out in place of a message: the one place where a fault meets messages."""
        hook = self._client.saboteur.message if self._client.saboteur else None
        changed = message if hook is None else hook(deepcopy(message), self._client)
        if changed is None:
            return []
        return changed if isinstance(changed, list) else [changed]

    async def speak(self, items: list[Any], call: Call | None) -> None:
        """In their order. Whatever a fault sends besides the call may fail.

        Raises:
            Failed: the call cannot be sent, or no answer to it can come any more.
        """
        if call is not None and not items:
            raise Failed(f"{call.method} was never sent")
        own = None if call is None else _own(items, call.method)
        sending: asyncio.Task[None] | None = None
        for place, item in enumerate(items):
            if place == own:
                sending = self._client.task(self._carry(item, call))
                await asyncio.sleep(0)  # on one connection it is written first
            elif call is None and place == 0:
                await self._carry(item, None)
            else:
                with suppress(Failed):
                    await self._carry(item, None)
        if sending is not None:
            await sending

    async def _carry(self, item: Any, call: Call | None) -> None:
        body = item if isinstance(item, bytes) else msgspec.json.encode(item)
        await self._client.carrier.send(body, item, call)


def _own(items: list[Any], method: str) -> int:
    """Which of the messages stands for the request: the first of its method, else the first."""
    same = [place for place, one in enumerate(items) if isinstance(one, dict) and one.get("method") == method]
    return same[0] if same else 0


def id_of(items: list[Any], message: Json) -> Any:
    """The id under which an answer comes: the one that was sent."""
    one = items[_own(items, message["method"])] if items else message
    return one.get("id") if isinstance(one, dict) else message["id"]
