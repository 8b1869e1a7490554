"""Asks a server to announce changes, in the way of its revision.

Either each stream is a request that stays open and has its own notifications (`subscriptions/listen`), or the
server announces changes of lists to everyone, and those of resources after `resources/subscribe`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, NamedTuple, Protocol

from msgspec import Raw

from assay.model.client_error import ClientError, ServerError
from assay.model.client_limits import ClientLimits
from assay.model.notice import Change
from assay.protocol.opening import Agreement
from assay.revisions.revision import Opening, Revision

from .change_hub import ChangeHub, ChangeStream
from .log import client_logger

KINDS: Final = ("tools", "prompts", "resources")
ATTEMPTS: Final = 5
"""Streams in a row that may end within `LASTING` seconds."""
LASTING: Final = 5.0


class Interest(NamedTuple):
    """What a stream asks for: lists by kind, and resources by URI."""

    kinds: frozenset[str] = frozenset()
    uris: frozenset[str] = frozenset()


class Listener(Protocol):
    """What listening needs of a session."""

    subscribed: Counter[str]
    """How many streams have subscribed to each resource."""
    ended: asyncio.Event
    hub: ChangeHub
    limits: ClientLimits

    @property
    def agreed(self) -> Agreement: ...

    @property
    def is_usable(self) -> bool: ...

    async def follow(self) -> None: ...

    async def request(self, method: str, params: dict[str, Any] | None = None) -> Raw: ...

    async def stream(self, params: dict[str, Any], revision: Revision, stream: ChangeStream) -> Raw: ...


def check_kinds(kinds: Iterable[str]) -> frozenset[str]:
    """
    Raises:
        ValueError: not the kind of a list.
    """
    unknown = {*kinds}.difference(KINDS)
    if unknown:
        raise ValueError(f"changes are those of {', '.join(KINDS)}, not of {', '.join(sorted(unknown))}")
    return frozenset(kinds)


def announced(capabilities: dict[str, Any], interest: Interest) -> Interest:
    """The part of an interest that a server declares to support; all its lists for an empty one."""
    kinds = [kind for kind in KINDS if (capabilities.get(kind) or {}).get("listChanged")]
    subscribable = bool((capabilities.get("resources") or {}).get("subscribe"))
    chosen = interest.kinds.intersection(kinds) if any(interest) else frozenset(kinds)
    return Interest(chosen, interest.uris if subscribable else frozenset())


def listen_filter(interest: Interest) -> dict[str, Any]:
    """The filter of `subscriptions/listen`."""
    changes: dict[str, Any] = {f"{kind}ListChanged": True for kind in KINDS if kind in interest.kinds}
    if interest.uris:
        changes["resourceSubscriptions"] = sorted(interest.uris)
    return changes


def read_filter(changes: dict[str, Any]) -> Interest:
    kinds = frozenset(kind for kind in KINDS if changes.get(f"{kind}ListChanged"))
    uris = changes.get("resourceSubscriptions")
    return Interest(kinds, frozenset(map(str, uris)) if isinstance(uris, list) else frozenset())


async def listen(session: Listener, interest: Interest, stream: ChangeStream) -> None:
    """Pass changes to a stream, until the server or the session ends it.

    Raises:
        ClientError: the server refuses, or the connection ended.
    """
    revision = session.agreed.revision
    if revision.opening is Opening.PER_REQUEST:
        await session.stream({"notifications": listen_filter(interest)}, revision, stream)
        return
    session.hub.streams.add(stream)
    subscribed: list[str] = []
    try:
        await session.follow()
        for uri in interest.uris:
            await session.request("resources/subscribe", {"uri": uri})
            session.subscribed[uri] += 1
            subscribed.append(uri)
        stream.acknowledge(interest.kinds, interest.uris)
        await session.ended.wait()
    finally:
        session.hub.streams.discard(stream)
        await _unsubscribe(session, subscribed)


async def _unsubscribe(session: Listener, uris: Collection[str]) -> None:
    """End the subscriptions of a stream that was left, unless others have the same."""
    for uri in uris:
        session.subscribed[uri] -= 1
        if session.subscribed[uri] > 0 or not session.is_usable:
            continue
        with contextlib.suppress(ClientError, TimeoutError):
            async with asyncio.timeout(session.limits.close_timeout):
                await session.request("resources/unsubscribe", {"uri": uri})


class CallbackStream:
    """Changes for the `on_change` of a client."""

    def __init__(self, post: Callable[[Change], None]) -> None:
        self.post = post

    def acknowledge(self, kinds: Collection[str], uris: Collection[str]) -> None:
        return


async def keep_announcing(session: Listener, stream: ChangeStream) -> None:
    """Keep a stream of all changes of lists open, in revisions where changes are only sent on demand."""
    interest = announced(session.agreed.capabilities, Interest())
    failures, clock = 0, asyncio.get_running_loop().time
    while any(interest) and failures < ATTEMPTS:
        start = clock()
        try:
            await listen(session, interest, stream)
        except ServerError as error:
            client_logger().warning("the server refuses to announce changes: %s", error)
            return
        except ClientError as error:
            client_logger().debug("the stream of changes ended: %s", error)
        if not session.is_usable:
            return
        failures = 0 if clock() - start >= LASTING else failures + 1
        await asyncio.sleep(1.0)
