"""Messages that the subject sends unasked: the driver queues notifications and answers requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.trace.message import Message
from assay.model.error import METHOD_NOT_FOUND

MOST: Final = 1000
"""Queued notifications at most; older ones are only in the trace."""
Responder = Callable[[dict[str, Any]], dict[str, Any] | None]
"""Maps the parameters of a request to `{"result": …}`, `{"error": …}` or None for no answer."""

SAMPLED: Final = {
    "role": "assistant",
    "model": "assay-lab",
    "stopReason": "endTurn",
    "content": {"type": "text", "text": "sampled by the lab"},
}
USUAL: Final[Mapping[str, dict[str, Any]]] = MappingProxyType(
    {
        "ping": {},
        "roots/list": {"roots": []},
        "sampling/createMessage": SAMPLED,
        "elicitation/create": {"action": "decline"},
    }
)


class _Waiter(Struct):
    method: str
    params: Mapping[str, Any]
    notification: asyncio.Future[Message]

    def matches(self, message: Message) -> bool:
        same = all(message.params.get(key) == value for key, value in self.params.items())
        return message.method == self.method and same


class Notifications:
    def __init__(self) -> None:
        self._queue: list[Message] = []
        self._waiters: list[_Waiter] = []

    def take(self, message: Message) -> None:
        for waiter in self._waiters:
            if not waiter.notification.done() and waiter.matches(message):
                waiter.notification.set_result(message)
                return
        self._queue = [*self._queue[1 - MOST :], message]

    async def next(self, method: str, params: Mapping[str, Any]) -> Message:
        """The oldest notification of the method that has at least these parameters."""
        waiter = _Waiter(method, params, asyncio.get_running_loop().create_future())
        for message in self._queue:
            if waiter.matches(message):
                self._queue.remove(message)
                return message
        self._waiters.append(waiter)
        try:
            return await waiter.notification
        finally:
            self._waiters.remove(waiter)


def usual_answer(method: str) -> dict[str, Any]:
    if method in USUAL:
        return {"result": USUAL[method]}
    return {"error": {"code": METHOD_NOT_FOUND, "message": f"the driver does not answer {method}"}}
