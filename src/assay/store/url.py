"""Stores by URL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from assay.model.error import StoreError
from assay.model.limits import Limits

from .port import Store

FORMS: Final = "sqlite:///FILE, redis://HOST:PORT/0, rediss://…, redis+sentinel://…/SERVICE or memory:"


def open_store(url: str, limits: Limits | None = None) -> Store:
    """The store with this URL. It connects when it is started.

    Args:
        url: `sqlite:///state.db` (relative to the working directory), `sqlite:////var/lib/state.db`,
            `redis://host:6379/0`, `rediss://…` with TLS, `redis+sentinel://host:26379/service`, or `memory:`.
        limits: How much it may keep.

    Raises:
        StoreError: the URL is wrong. The message names the fix.
        MissingExtra: the store needs a package that is not installed.
    """
    scheme, separator, rest = url.partition(":")
    make = STORES.get(scheme)
    if make is None or not separator:
        raise StoreError(f"not the URL of a store: {hidden(url)!r:.120}", f"write {FORMS}")
    return make(url, rest, limits or Limits())


def hidden(url: str) -> str:
    """A URL without its password, for messages."""
    start, separator, host = url.rpartition("@")
    if not separator:
        return url
    scheme, _, user = start.partition("://")
    return f"{scheme}://{user.partition(':')[0]}:…@{host}"


def _memory(url: str, rest: str, limits: Limits) -> Store:
    from .memory_store import MemoryStore

    if rest not in ("", "//"):
        raise StoreError(f"a store in memory has no address: {url!r:.80}", "write memory:")
    return MemoryStore(limits)


def _sqlite(url: str, rest: str, limits: Limits) -> Store:
    from assay.store.sqlite.store import SqliteStore

    return SqliteStore.from_url(url, limits)


def _redis(url: str, rest: str, limits: Limits) -> Store:
    from assay.store.redis.store import RedisStore

    return RedisStore.from_url(url, limits)


STORES: Final[dict[str, Callable[[str, str, Limits], Store]]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "redis": _redis,
    "rediss": _redis,
    "redis+sentinel": _redis,
    "rediss+sentinel": _redis,
}
