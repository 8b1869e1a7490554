"""Listen streams: a request that stays open and carries the changes its client asked to hear of."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from assay.model.error import INTERNAL_ERROR, RpcError
from assay.protocol.uri import InvalidUri, check_uri

from .call import Call
from .typed_result import SUBSCRIPTION

if TYPE_CHECKING:
    from .server import Server

KINDS = {
    "tools_list_changed": "tools",
    "prompts_list_changed": "prompts",
    "resources_list_changed": "resources",
}


class Filter(Struct, rename="camel", omit_defaults=True):
    """What a client wants to hear of; absent means nothing."""

    tools_list_changed: bool | None = None
    prompts_list_changed: bool | None = None
    resources_list_changed: bool | None = None
    resource_subscriptions: list[str] | None = None


class Listener:
    """One open stream: which changes it hears of, and those not sent yet."""

    MOST_WAITING = 1024
    """Changes that wait for a slow client; one more ends its stream, and it can come back."""

    def __init__(self, wanted: Filter) -> None:
        self.kinds: frozenset[str | None] = frozenset(
            kind for name, kind in KINDS.items() if getattr(wanted, name)
        )
        self.uris: frozenset[str | None] = frozenset(wanted.resource_subscriptions or ())
        self._waiting: asyncio.Queue[tuple[str, dict[str, Any]] | None] = asyncio.Queue()

    def tell(self, method: str, params: dict[str, Any]) -> None:
        if self._waiting.qsize() < self.MOST_WAITING:
            self._waiting.put_nowait((method, params))
        else:
            self.end()

    def end(self) -> None:
        self._waiting.put_nowait(None)

    async def next(self) -> tuple[str, dict[str, Any]] | None:
        """The next change; none when the stream is to end."""
        return await self._waiting.get()


async def listen(call: Call, wanted: Filter) -> dict[str, Any]:
    """Serve one listen stream until its client or the server ends it."""
    server = call.server
    if len(server.audience.listeners) >= server.limits.listeners:
        raise RpcError(INTERNAL_ERROR, f"too many listen streams: limit {server.limits.listeners}")
    honoured = honour(wanted, server)
    listener = Listener(honoured)
    meta = {SUBSCRIPTION: call.id}
    call.pause()  # silence is the normal state of a listener
    server.audience.listen(listener)
    try:
        await call.notify(
            "notifications/subscriptions/acknowledged", {"_meta": meta, "notifications": honoured}
        )
        await call.supervise(_relay(call, listener, meta))
    finally:
        server.audience.stop_listening(listener)
    if call.scope.transport == "stdio":
        # On a channel that all streams share, the end of one is told by its id (basic/patterns/cancellation).
        await call.notify(
            "notifications/cancelled", {"requestId": call.id, "reason": "the server is stopping"}
        )
    return {"_meta": meta}


async def _relay(call: Call, listener: Listener, meta: dict[str, Any]) -> None:
    while (change := await listener.next()) is not None:
        method, params = change
        await call.notify(method, {"_meta": meta, **params})


def honour(wanted: Filter, server: Server) -> Filter:
    """The part of a filter that this server can keep."""
    honoured = Filter()
    for name, kind in KINDS.items():
        if getattr(wanted, name) and server.features.has(f"{kind}.listChanged"):
            setattr(honoured, name, True)
    if wanted.resource_subscriptions is not None and server.features.has("resources.subscribe"):
        uris = [uri for uri in wanted.resource_subscriptions if _is_uri(uri)]
        honoured.resource_subscriptions = uris[: server.limits.subscriptions]
    return honoured


def _is_uri(text: str) -> bool:
    try:
        check_uri(text)
    except InvalidUri:
        return False
    return True
