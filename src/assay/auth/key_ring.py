"""The keys of an authorization server: fetched when needed, kept for a while, and fetched again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

from .address import check_address
from .denial import Unavailable
from .fetch import fetch, need_client
from .json_object import read_object
from .signature import Key, make_key

log: Final = logging.getLogger("assay.auth")

KEYS: Final = 64
"""Of one key set; further ones are not looked at."""
TRUSTED: Final = 86_400.0
"""Seconds that keys count while nobody can say whether they still should."""
WELL_KNOWN: Final = ("oauth-authorization-server", "openid-configuration")

Load = Callable[[], Awaitable[Mapping[str, Any]]]
"""Brings the key set (RFC 7517).

Raises:
    Unavailable: it cannot be had now.
"""


class KeyRing:
    """Keys come and go. A key that is not known makes it look again, but not more often than `pause` allows:
    strangers can make up names of keys as fast as they like."""

    def __init__(
        self,
        load: Load,
        *,
        kept: float = 300.0,
        pause: float = 10.0,
        changed: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._load = load
        self._kept = kept
        self._pause = pause
        self._changed = changed
        self._clock = clock
        self._keys: tuple[Key, ...] = ()
        self._document: Any = None
        self._due = -inf
        self._tried = -inf
        self._trusted = inf
        self._loading: asyncio.Task[None] | None = None

    @property
    def is_due(self) -> bool:
        """Whether it should look whether the keys have changed."""
        return self._clock() >= self._due

    async def find(self, kid: str | None, algorithm: str) -> list[Key]:
        """
        Raises:
            Unavailable: there are no keys at all.
        """
        if self.is_due:
            await self._refresh()
        found = self._matching(kid, algorithm)
        if not found and self._clock() >= self._tried + self._pause:
            await self._refresh()
            found = self._matching(kid, algorithm)
        if not self._keys:
            raise Unavailable("the keys of the authorization server cannot be had")
        return found

    async def refresh_if_due(self) -> None:
        if self.is_due:
            await self._refresh()

    def _matching(self, kid: str | None, algorithm: str) -> list[Key]:
        return [key for key in self._keys if key.fits(kid, algorithm)]

    async def _refresh(self) -> None:
        """Whoever comes while it is under way waits for the same answer; who leaves does not end it."""
        if self._loading is None or self._loading.done():
            self._loading = asyncio.get_running_loop().create_task(self._reload())
        await asyncio.shield(self._loading)

    async def _reload(self) -> None:
        self._tried = self._clock()
        try:
            document = await self._load()
            keys = read_keys(document)
        except Unavailable as error:
            log.warning("keys of the authorization server: %s", error)
            self._due = self._clock() + self._pause
            # Keys that were good a while ago are better than none: everybody would be locked out.
            if isinstance(error, Keyless) or self._clock() >= self._trusted:
                self._take((), None)
            return
        self._due = self._clock() + self._kept
        self._trusted = self._due + TRUSTED
        self._take(keys, document)

    def _take(self, keys: tuple[Key, ...], document: Any) -> None:
        if document != self._document:
            self._keys, self._document = keys, document
            self._changed()


class Keyless(Unavailable):
    """The authorization server has answered, and has no key that signatures could be checked by."""


def read_keys(document: Mapping[str, Any]) -> tuple[Key, ...]:
    """
    Raises:
        Keyless: no key of the set can be used.
        Unavailable: it is no key set.
    """
    given = document.get("keys")
    if not isinstance(given, list):
        raise Unavailable("the key set has no keys")
    keys = tuple(key for key in map(make_key, given[:KEYS]) if key is not None)
    if not keys:
        raise Keyless("the key set has no key that signatures could be checked by")
    return keys


def loader(jwks: str | Path | Mapping[str, Any] | None, issuer: str, *, allow_http: bool) -> Load:
    """How to get the keys: from a URL, a file, a document at hand; else from where the issuer says.

    Raises:
        ValueError: it is none of these.
    """
    if jwks is None:
        need_client()
        return lambda: _discovered(issuer, allow_http)
    if isinstance(jwks, Mapping):
        read_at_once(jwks)
        return lambda: _ready(jwks)
    if isinstance(jwks, str) and "://" in jwks:
        need_client()
        url = check_address(jwks, "jwks", allow_http=allow_http)
        return lambda: fetch(url)
    path = Path(jwks)
    read_at_once(_read_file(path))
    return lambda: asyncio.to_thread(_read_file, path)


def read_at_once(document: Mapping[str, Any]) -> None:
    """A mistake in what is at hand is told at once, not to the first client."""
    try:
        read_keys(document)
    except Unavailable as error:
        raise ValueError(f"jwks: {error}") from None


async def _ready(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return document


def _read_file(path: Path) -> dict[str, Any]:
    try:
        found = read_object(path.read_bytes())
    except OSError as error:
        raise FileTrouble(f"jwks: {path} cannot be read: {error.strerror or error}") from None
    if found is None:
        raise FileTrouble(f"jwks: {path} holds no key set: an object with `keys`")
    return found


class FileTrouble(Unavailable, ValueError):
    """While a server is put together it is the author's mistake; later on the file may come back."""


async def _discovered(issuer: str, allow_http: bool) -> dict[str, Any]:
    """By way of the issuer's metadata (RFC 8414, OpenID Connect Discovery)."""
    reasons = []
    for url in metadata_addresses(issuer):
        try:
            metadata = await fetch(url)
        except Unavailable as error:
            reasons.append(str(error))
            continue
        if metadata.get("issuer") != issuer:
            reasons.append(f"{url} is the metadata of another issuer")
            continue
        return await fetch(_address_of_keys(metadata, url, allow_http))
    raise Unavailable("; ".join(reasons))


def _address_of_keys(metadata: Mapping[str, Any], url: str, allow_http: bool) -> str:
    try:
        return check_address(str(metadata.get("jwks_uri")), "jwks_uri", allow_http=allow_http)
    except ValueError as error:
        raise Unavailable(f"{url}: {error}") from None


def metadata_addresses(issuer: str) -> list[str]:
    """Where an issuer may tell of itself; for one with a path in three ways."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    inserted = [f"{parts.scheme}://{parts.netloc}/.well-known/{name}{path}" for name in WELL_KNOWN]
    return [*inserted, f"{issuer.rstrip('/')}/.well-known/{WELL_KNOWN[1]}"] if path else inserted
