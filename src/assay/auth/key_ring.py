"""The public keys of an authorization server: fetched on demand, cached and refreshed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

from assay.model.visible import visible_record

from .address import check_address
from .error import Unavailable
from .fetch import fetch, need_client
from .json_object import read_object
from .signature import Key, make_key

log: Final = logging.getLogger("assay.auth")
log.addFilter(visible_record)

KEYS: Final = 64
"""Most keys to read from a key set."""
STALE_SECONDS: Final = 86_400.0
"""Seconds that cached keys stay valid while the authorization server cannot be reached."""
WELL_KNOWN: Final = ("oauth-authorization-server", "openid-configuration")

Load = Callable[[], Awaitable[Mapping[str, Any]]]
"""Loads the key set (RFC 7517).

Raises:
    Unavailable: It cannot be loaded now.
"""


class KeyRing:
    """The current keys. An unknown key id causes a refresh, but at most one every `pause` seconds: anyone can
    send made-up key ids at any rate."""

    def __init__(
        self,
        load: Load,
        *,
        lifetime: float = 300.0,
        pause: float = 10.0,
        changed: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._load = load
        self._lifetime = lifetime
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
        """Whether the keys should be refreshed."""
        return self._clock() >= self._due

    async def find(self, kid: str | None, algorithm: str) -> list[Key]:
        """
        Raises:
            Unavailable: No keys are known.
        """
        if self.is_due:
            await self._refresh()
        keys = self._matching(kid, algorithm)
        if not keys and self._clock() >= self._tried + self._pause:
            await self._refresh()
            keys = self._matching(kid, algorithm)
        if not self._keys:
            raise Unavailable("the keys of the authorization server cannot be loaded")
        return keys

    async def refresh_if_due(self) -> None:
        if self.is_due:
            await self._refresh()

    def _matching(self, kid: str | None, algorithm: str) -> list[Key]:
        return [key for key in self._keys if key.fits(kid, algorithm)]

    async def _refresh(self) -> None:
        """Concurrent callers share one refresh, which a caller that is cancelled does not stop."""
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
            # An outage must not lock everyone out: cached keys outlive it, unless the server withdrew them.
            if isinstance(error, NoUsableKeys) or self._clock() >= self._trusted:
                self._take((), None)
            return
        self._due = self._clock() + self._lifetime
        self._trusted = self._due + STALE_SECONDS
        self._take(keys, document)

    def _take(self, keys: tuple[Key, ...], document: Any) -> None:
        if document != self._document:
            self._keys, self._document = keys, document
            self._changed()


class NoUsableKeys(Unavailable):
    """The authorization server answered, but none of its keys can verify signatures."""


def read_keys(document: Mapping[str, Any]) -> tuple[Key, ...]:
    """
    Raises:
        NoUsableKeys: No key of the set can verify signatures.
        Unavailable: The document is not a key set.
    """
    jwks = document.get("keys")
    if not isinstance(jwks, list):
        raise Unavailable("the key set has no keys")
    keys = tuple(key for key in map(make_key, jwks[:KEYS]) if key is not None)
    if not keys:
        raise NoUsableKeys("the key set has no key that can verify signatures")
    return keys


def loader(jwks: str | Path | Mapping[str, Any] | None, issuer: str, *, allow_http: bool) -> Load:
    """How to load the keys: from a URL, a file or the document itself, else by discovery.

    Raises:
        ValueError: The key set cannot be used.
    """
    if jwks is None:
        need_client()
        return lambda: _discover(issuer, allow_http)
    if isinstance(jwks, Mapping):
        check_keys(jwks)
        return lambda: _static(jwks)
    if isinstance(jwks, str) and "://" in jwks:
        need_client()
        url = check_address(jwks, "jwks", allow_http=allow_http)
        return lambda: fetch(url)
    path = Path(jwks)
    check_keys(_read_file(path))
    return lambda: asyncio.to_thread(_read_file, path)


def check_keys(document: Mapping[str, Any]) -> None:
    """Report an unusable local key set at start-up rather than on the first request."""
    try:
        read_keys(document)
    except Unavailable as error:
        raise ValueError(f"jwks: {error}") from None


async def _static(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return document


def _read_file(path: Path) -> dict[str, Any]:
    try:
        document = read_object(path.read_bytes())
    except OSError as error:
        raise KeyFileError(f"jwks: {path} cannot be read: {error.strerror or error}") from None
    if document is None:
        raise KeyFileError(f"jwks: {path} is not a key set: a JSON object with `keys`")
    return document


class KeyFileError(Unavailable, ValueError):
    """A ValueError at start-up, where it is a configuration error; later the file may come back."""


async def _discover(issuer: str, allow_http: bool) -> dict[str, Any]:
    """Find the key set through the issuer's metadata (RFC 8414, OpenID Connect Discovery)."""
    reasons = []
    for url in metadata_addresses(issuer):
        try:
            metadata = await fetch(url)
        except Unavailable as error:
            reasons.append(str(error))
            continue
        # Metadata of another issuer could point to keys of an attacker's choice (RFC 8414, 3.3).
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
    """The URLs of an issuer's metadata: three for an issuer with a path, else two."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    inserted = [f"{parts.scheme}://{parts.netloc}/.well-known/{name}{path}" for name in WELL_KNOWN]
    return [*inserted, f"{issuer.rstrip('/')}/.well-known/{WELL_KNOWN[1]}"] if path else inserted
