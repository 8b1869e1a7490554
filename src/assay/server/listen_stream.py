"""Listen streams: a request that stays open and carries the changes its client asked to hear of."""

from __future__ import annotations

import asyncio
from time import time
from typing import Any

from msgspec import Struct

from assay.model.error import INTERNAL_ERROR, METHOD_NOT_FOUND, RpcError

from .call import Call
from .typed_result import SUBSCRIPTION

KINDS = {
    "tools_list_changed": "tools",
    "prompts_list_changed": "prompts",
    "resources_list_changed": "resources",
}
SHARED_CHANNELS = frozenset({"stdio", "websocket"})
"""Transports on which everything goes over one connection."""


class ListenFilter(Struct, rename="camel", omit_defaults=True):
    """What a client wants to hear of; absent means nothing."""

    tools_list_changed: bool | None = None
    prompts_list_changed: bool | None = None
    resources_list_changed: bool | None = None
    resource_subscriptions: list[str] | None = None


class ListenStream:
    """One open stream: which changes it hears of, and those not sent yet."""

    MOST_WAITING = 1024
    """Changes that wait for a slow client; one more ends its stream, and it can come back."""

    def __init__(self, wanted: ListenFilter) -> None:
        self.kinds: frozenset[str | None] = frozenset(
            kind for name, kind in KINDS.items() if getattr(wanted, name)
        )
        self.uris: frozenset[str | None] = frozenset(wanted.resource_subscriptions or ())
        self._waiting: asyncio.Queue[tuple[str, dict[str, Any]] | None] = asyncio.Queue()
        self._ended = False

    def tell(self, method: str, params: dict[str, Any]) -> None:
        if self._waiting.qsize() >= self.MOST_WAITING:
            self.end()
        elif not self._ended:
            self._waiting.put_nowait((method, params))

    def end(self) -> None:
        if not self._ended:
            self._ended = True
            self._waiting.put_nowait(None)

    async def next(self) -> tuple[str, dict[str, Any]] | None:
        """The next change; none when the stream is to end."""
        return await self._waiting.get()


async def listen(call: Call, wanted: ListenFilter) -> dict[str, Any]:
    """Serve one listen stream until its client or the server ends it."""
    server = call.server
    if call.send is None:
        raise RpcError(METHOD_NOT_FOUND, "listen streams are not offered here: only single answers are")
    if len(server.notifier.listeners) >= server.limits.listeners:
        raise RpcError(INTERNAL_ERROR, f"too many listen streams: limit {server.limits.listeners}")
    honoured = await honour(wanted, call)
    listener = ListenStream(honoured)
    meta = {SUBSCRIPTION: call.id}
    server.start()
    call.pause()  # silence is the normal state of a listener
    server.notifier.listen(listener)
    ending = _end_in_time(listener, call.scope.expires)
    try:
        await call.notify(
            "notifications/subscriptions/acknowledged", {"_meta": meta, "notifications": honoured}
        )
        await call.supervise(_relay(call, listener, meta))
    finally:
        server.notifier.stop_listening(listener)
        if ending is not None:
            ending.cancel()
    if call.scope.transport in SHARED_CHANNELS:
        # On a channel that all streams share, the end of one is told by its id (basic/patterns/cancellation).
        await call.notify(
            "notifications/cancelled", {"requestId": call.id, "reason": "the server ended this stream"}
        )
    return {"_meta": meta}


def _end_in_time(listener: ListenStream, expires: float | None) -> asyncio.TimerHandle | None:
    """Who may listen no longer hears nothing more."""
    if expires is None:
        return None
    return asyncio.get_running_loop().call_later(expires - time(), listener.end)


async def _relay(call: Call, listener: ListenStream, meta: dict[str, Any]) -> None:
    while (change := await listener.next()) is not None:
        method, params = change
        await call.notify(method, {"_meta": meta, **params})


async def honour(wanted: ListenFilter, call: Call) -> ListenFilter:
    """The part of a filter that this server can keep, and this client may ask for."""
    server, honoured = call.server, ListenFilter()
    for name, kind in KINDS.items():
        if getattr(wanted, name) and server.features.has(f"{kind}.listChanged"):
            setattr(honoured, name, True)
    if wanted.resource_subscriptions is not None and server.features.has("resources.subscribe"):
        uris = wanted.resource_subscriptions[: server.limits.subscriptions]
        honoured.resource_subscriptions = [uri for uri in uris if await _is_readable(uri, call)]
    return honoured


async def _is_readable(uri: str, call: Call) -> bool:
    try:
        await call.server.resources.find_for(uri, call)
    except RpcError:
        return False
    return True
