"""Listen streams: a request that stays open and carries the changes that its client asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Mapping
from itertools import accumulate
from time import time
from typing import Any

import msgspec
from msgspec import Raw, Struct, to_builtins

from assay.extensions.extension import NOTHING
from assay.model.error import METHOD_NOT_FOUND, Busy, RpcError
from assay.model.limits import Limits
from assay.protocol.codec import decode_params
from assay.protocol.session import uri_size
from assay.server.calls.call import Call
from assay.server.components.resource_registry import Resources
from assay.server.results.typed_result import SUBSCRIPTION

from .notifier import ChangeNotifier

KINDS = {
    "tools_list_changed": "tools",
    "prompts_list_changed": "prompts",
    "resources_list_changed": "resources",
}
_decode_filter = msgspec.json.Decoder(dict[str, Any]).decode
SHARED_CHANNELS = frozenset({"stdio", "websocket"})
"""Transports that carry everything over one connection."""


class ListenFilter(Struct, rename="camel", omit_defaults=True):
    """The changes that a client asks for."""

    tools_list_changed: bool | None = None
    prompts_list_changed: bool | None = None
    resources_list_changed: bool | None = None
    resource_subscriptions: list[str] | None = None


class ListenStream:
    """One open stream: the changes it carries, and a queue of those not sent yet."""

    MOST_WAITING = 1024
    """Changes queued for a slow client. One more ends its stream; the client can open a new one."""

    def __init__(self, changes: ListenFilter, topics: Mapping[str, list[str]] = NOTHING) -> None:
        self.topics = {name: frozenset(keys) for name, keys in topics.items()}
        self.kinds: frozenset[str | None] = frozenset(
            kind for name, kind in KINDS.items() if getattr(changes, name)
        )
        self.uris: frozenset[str | None] = frozenset(changes.resource_subscriptions or ())
        self._waiting: asyncio.Queue[tuple[str, dict[str, Any]] | None] = asyncio.Queue()
        self._ended = False

    def notify(self, method: str, params: dict[str, Any]) -> None:
        if self._waiting.qsize() >= self.MOST_WAITING:
            self.end()
        elif not self._ended:
            self._waiting.put_nowait((method, params))

    def end(self) -> None:
        if not self._ended:
            self._ended = True
            self._waiting.put_nowait(None)

    async def next(self) -> tuple[str, dict[str, Any]] | None:
        """The next change; None at the end of the stream."""
        return await self._waiting.get()


class ListenMethod:
    """Serves `subscriptions/listen`."""

    def __init__(self, notifier: ChangeNotifier, resources: Resources, start: Callable[[], None]) -> None:
        self._notifier = notifier
        self._resources = resources
        self._start = start
        self._streams: dict[Hashable, list[ListenStream]] = {}
        """Open streams of each client, oldest first."""

    async def serve(self, call: Call, requested: ListenFilter, notifications: Raw) -> dict[str, Any]:
        """Serve one stream until its client or the server ends it."""
        if call.send is None:
            raise RpcError(METHOD_NOT_FOUND, "listen streams are not offered here: only single answers are")
        accepted = await self._accept(requested, call)
        topics = await _accept_topics(notifications, call)
        stream, meta, client = ListenStream(accepted, topics), {SUBSCRIPTION: call.id}, call.scope.client_key
        if len(self._notifier.listeners) >= call.services.limits.listeners:
            self._make_room(client, call.services.limits.listeners)
        self._start()
        call.pause()  # a listen stream may be silent for as long as nothing changes
        self._add(client, stream)
        timer = _end_at(call.scope.expires, stream)
        try:
            await call.notify(
                "notifications/subscriptions/acknowledged",
                {"_meta": meta, "notifications": to_builtins(accepted) | topics},
            )
            await call.supervise(_relay(call, stream, meta))
        finally:
            self._remove(client, stream)
            if timer is not None:
                timer.cancel()
        if call.scope.transport in SHARED_CHANNELS:
            # On a shared channel the end of one stream is announced by its id (basic/patterns/cancellation).
            await call.notify(
                "notifications/cancelled", {"requestId": call.id, "reason": "the server ended this stream"}
            )
        return {"_meta": meta}

    def _add(self, client: Hashable, stream: ListenStream) -> None:
        self._notifier.add_listener(stream)
        self._streams.setdefault(client, []).append(stream)

    def _remove(self, client: Hashable, stream: ListenStream) -> None:
        self._notifier.remove_listener(stream)
        streams = self._streams.get(client, [])
        if stream in streams:
            streams.remove(stream)
        if not streams:
            self._streams.pop(client, None)

    def _make_room(self, client: Hashable, limit: int) -> None:
        """End the newest stream of the client with the most, unless that is this one.

        Raises:
            Busy: it is.
        """
        largest, streams = max(self._streams.items(), key=lambda entry: len(entry[1]))
        if len(self._streams.get(client, ())) + 1 >= len(streams):
            raise Busy(f"too many listen streams: limit {limit}")
        newest = streams[-1]
        newest.end()
        self._remove(largest, newest)

    async def _accept(self, requested: ListenFilter, call: Call) -> ListenFilter:
        """The part of a filter that this server supports and this client may use."""
        services, accepted = call.services, ListenFilter()
        for name, kind in KINDS.items():
            if getattr(requested, name) and services.features.has(f"{kind}.listChanged"):
                setattr(accepted, name, True)
        if requested.resource_subscriptions is not None and services.features.has("resources.subscribe"):
            uris = _within(services.limits, requested.resource_subscriptions)
            accepted.resource_subscriptions = [uri for uri in uris if await self._is_readable(uri, call)]
        return accepted

    async def _is_readable(self, uri: str, call: Call) -> bool:
        try:
            await self._resources.find_for(uri, call)
        except RpcError:
            return False
        return True


async def _accept_topics(notifications: Raw, call: Call) -> dict[str, list[str]]:
    """The part of a filter that extensions of this server support."""
    topics = call.services.extensions.topics
    if not topics:
        return {}
    requested: dict[str, Any] = decode_params(notifications, _decode_filter)
    accepted = {}
    for name, topic in topics.items():
        if requested.get(name) is not None:
            keys = msgspec.convert(requested[name], list[str])
            accepted[name] = await topic.accept(_within(call.services.limits, keys), call)
    return accepted


def _within(limits: Limits, uris: list[str]) -> list[str]:
    """The first URIs, as many as a stream may keep."""
    sizes = accumulate(map(uri_size, uris[: limits.subscriptions]))
    return [uri for uri, size in zip(uris, sizes, strict=False) if size <= limits.subscription_bytes]


def _end_at(expires: float | None, stream: ListenStream) -> asyncio.TimerHandle | None:
    """End the stream when the client's grant expires."""
    if expires is None:
        return None
    return asyncio.get_running_loop().call_later(expires - time(), stream.end)


async def _relay(call: Call, stream: ListenStream, meta: dict[str, Any]) -> None:
    while (change := await stream.next()) is not None:
        method, params = change
        await call.notify(method, {"_meta": meta, **params})
