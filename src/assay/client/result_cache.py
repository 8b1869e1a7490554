"""Results that the server allows to reuse (server/utilities/caching).

A cache belongs to one client, and so to one principal: nothing is shared. It stores messages, not values, so
that what the caller does with a result changes no later one.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from assay.model.client_limits import ClientLimits
from assay.model.notice import Change

Request = Callable[[str, dict[str, Any]], Awaitable[Raw]]
Key = tuple[str, str]
"""The method and the URI, which is empty for lists."""

READ: Final = "resources/read"
LISTS_OF: Final = {
    "tools": ("tools/list",),
    "prompts": ("prompts/list",),
    "resources": ("resources/list", "resources/templates/list"),
}
LONGEST_MS: Final = 24 * 60 * 60 * 1000
ENTRY_BYTES: Final = 512
"""What an entry takes besides its messages, about."""


class Hints(Struct, frozen=True):
    """For how long a result may be reused, and by whom."""

    ttl_ms: float = 0
    is_private: bool = True


class _Hinted(Struct, rename="camel"):
    ttl_ms: Any = 0
    cache_scope: Any = "private"


def read_hints(raw: Raw) -> Hints:
    """The hints of a result; invalid ones allow nothing."""
    try:
        hinted = msgspec.json.decode(raw, type=_Hinted)
    except (msgspec.DecodeError, RecursionError):
        return Hints()
    ttl = hinted.ttl_ms
    is_number = isinstance(ttl, int | float) and not isinstance(ttl, bool)
    return Hints(min(max(ttl, 0), LONGEST_MS) if is_number else 0, hinted.cache_scope != "public")


def strictest(hints: list[Hints]) -> Hints:
    """The hints of a list, from those of its pages."""
    if not hints:
        return Hints()
    return Hints(min(hint.ttl_ms for hint in hints), any(hint.is_private for hint in hints))


class _Entry(Struct, frozen=True):
    results: list[Raw]
    stale_at: float
    size: int
    is_private: bool


class ResultCache:
    """Lists and resources, until they are stale, have changed, or others need the room."""

    def __init__(
        self,
        limits: ClientLimits,
        clock: Callable[[], float] = time.monotonic,
        principal: Callable[[], object] = int,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._principal = principal
        """Changes with the token of the client."""
        self._last_principal = principal()
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._size = 0
        self.methods: frozenset[str] = frozenset()
        """Those whose results have hints, in the revision of the session."""
        self.generation = 0
        """Changes when results that are on their way must not be stored."""

    def begin(self, methods: frozenset[str]) -> None:
        """A new session: another process may answer, with other results."""
        self.clear()
        self.methods = methods

    def clear(self) -> None:
        self.generation += 1
        self._entries.clear()
        self._size = 0

    def _check_principal(self) -> None:
        """Private results are for the token that they were requested with."""
        principal = self._principal()
        if principal == self._last_principal:
            return
        self._last_principal = principal
        self.generation += 1
        for key in [key for key, entry in self._entries.items() if entry.is_private]:
            self._drop(key)

    def refuse_pending(self) -> None:
        """A result on its way depends on answers of the client: it is that of one call only."""
        self.generation += 1

    def observe(self, change: Change) -> None:
        """Drop what a change makes stale."""
        self.generation += 1
        if change.uri is None:
            for method in LISTS_OF.get(change.kind, ()):
                self._drop((method, ""))
            return
        for key in [key for key in self._entries if key[0] == READ and _is_part(change.uri, key[1])]:
            self._drop(key)

    def get(self, key: Key) -> list[Raw] | None:
        self._check_principal()
        entry = self._entries.get(key)
        if entry is None:
            return None
        if self._clock() >= entry.stale_at:
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        return entry.results

    def put(self, key: Key, results: list[Raw], generation: int) -> None:
        """Store a result that was requested at this generation, if its hints and the limits allow that."""
        hints = strictest([read_hints(result) for result in results])
        size = ENTRY_BYTES + len(key[1]) + sum(len(memoryview(result)) for result in results)
        self._check_principal()
        self._drop(key)
        if generation != self.generation or hints.ttl_ms <= 0 or size > self._limits.cache_bytes:
            return
        # Copies, because a result refers to its whole message, which may be far larger.
        copies = [result.copy() for result in results]
        self._entries[key] = _Entry(copies, self._clock() + hints.ttl_ms / 1000, size, hints.is_private)
        self._size += size
        while self._size > self._limits.cache_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size -= entry.size

    # Requests through the cache.

    def pages(self, method: str, request: Request, fresh: bool) -> Request:
        """A function that answers the pages of a list, from the cache if it is there."""
        key = (method, "")
        if method not in self.methods:
            return request
        stored = None if fresh else self.get(key)
        if stored is not None:
            remaining = iter(stored)

            async def answer(method: str, params: dict[str, Any]) -> Raw:
                return next(remaining)

            return answer
        return _Recorded(self, key, request)

    async def read(self, uri: str, request: Callable[[], Awaitable[Raw]], fresh: bool) -> Raw:
        """A resource, from the cache if it is there."""
        if READ not in self.methods:
            return await request()
        key, generation = (READ, uri), self.generation
        stored = None if fresh else self.get(key)
        if stored is not None:
            return stored[0]
        raw = await request()
        self.put(key, [raw], generation)
        return raw


class _LastPage(Struct, rename="camel"):
    next_cursor: Any = None


class _Recorded:
    """Requests the pages of a list, and stores them after the last."""

    def __init__(self, cache: ResultCache, key: Key, request: Request) -> None:
        self._cache, self._key, self._request = cache, key, request
        self._pages: list[Raw] = []
        self._generation = cache.generation

    async def __call__(self, method: str, params: dict[str, Any]) -> Raw:
        if "cursor" not in params:  # from the beginning, perhaps again
            self._pages, self._generation = [], self._cache.generation
        raw = await self._request(method, params)
        self._pages.append(raw)
        if _is_last(raw):
            self._cache.put(self._key, self._pages, self._generation)
        return raw


def _is_last(raw: Raw) -> bool:
    try:
        return msgspec.json.decode(raw, type=_LastPage).next_cursor is None
    except (msgspec.DecodeError, RecursionError):
        return False


def _is_part(uri: str, other: str) -> bool:
    """Whether one is the other, or a part of it."""
    return uri == other or uri.startswith(f"{other.rstrip('/')}/") or other.startswith(f"{uri.rstrip('/')}/")
