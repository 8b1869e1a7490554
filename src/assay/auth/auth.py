"""The settings of a protected server: which tokens it accepts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .address import canonical, check_address
from .challenge import check_scopes
from .dpop import DPoP
from .grant import TokenRules
from .introspection import Introspection
from .key_ring import KeyRing, loader
from .metadata import describe
from .signature import ALGORITHMS

if TYPE_CHECKING:
    from assay.protocol.http.asgi import Application

    from .guard import Once
    from .protected import Protected

TYPES: Final = ("at+jwt", "jwt", None)
"""Accepted `typ` headers. RFC 9068 requires the first; many issuers send the second, or none."""


@dataclass(frozen=True, kw_only=True)
class Auth:
    """Requires an access token from `issuer` for `audience`.

    `audience` is the URL by which clients know this server, or several; the first is the `resource` in the
    metadata. `jwks` is the issuer's key set as a URL, a file or the document itself; by default it is
    discovered from the issuer's metadata. `scopes` are required for every request. `hierarchy` lists the
    scopes that a scope includes (`{"admin": ["write"], "write": ["read"]}`).

    Raises:
        ValueError: An option has an invalid value.
    """

    issuer: str
    audience: str | Sequence[str]
    jwks: str | Path | Mapping[str, Any] | None = None
    scopes: Sequence[str] = ()
    scopes_supported: Sequence[str] | None = None
    """For the metadata; `scopes` by default."""
    hierarchy: Mapping[str, Iterable[str]] = field(default_factory=dict)
    introspection: Introspection | None = None
    """Used for opaque tokens; for all tokens if `jwks` is not set."""
    dpop: DPoP = field(default_factory=DPoP)
    resource: str | None = None
    name: str | None = None
    """The name of this server on consent pages."""
    algorithms: Sequence[str] = ALGORITHMS
    types: Sequence[str | None] = TYPES
    leeway: float = 30.0
    """Clock skew to tolerate, in seconds."""
    keys_kept: float = 300.0
    """Seconds between refreshes of the key set."""
    keys_pause: float = 10.0
    """Minimum seconds between two refreshes that unknown keys cause."""
    remembered: int = 10_000
    """Verified tokens to cache; an entry lasts until its token expires or the keys change."""
    allow_http: bool = False
    """Permit plain http to authorization servers on other machines."""
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        check_address(self.issuer, "issuer", allow_http=self.allow_http)
        if not self.audiences or not all(self.audiences):
            raise ValueError("audience must be given: the URL by which clients know this server")
        check_address(self.address, "the resource (by default the audience)", allow_http=True)
        check_scopes(self.scopes, "scopes")
        check_scopes(self.scopes_supported or (), "scopes_supported")
        unknown = [algorithm for algorithm in self.algorithms if algorithm not in ALGORITHMS]
        if unknown or not self.algorithms:
            raise ValueError(f"algorithms must be some of {', '.join(ALGORITHMS)}: {unknown}")
        if self.introspection is not None:
            check_address(self.introspection.url, "introspection", allow_http=self.allow_http)
        self.key_ring()  # raises ValueError for an unusable `jwks`

    @property
    def audiences(self) -> tuple[str, ...]:
        return (self.audience,) if isinstance(self.audience, str) else tuple(self.audience)

    @property
    def address(self) -> str:
        """The resource identifier: the URL by which clients know this server."""
        return self.resource or self.audiences[0]

    @property
    def rules(self) -> TokenRules:
        audiences = frozenset(map(canonical, self.audiences))
        return TokenRules(self.issuer, audiences, self.leeway, self.hierarchy)

    def key_ring(self, changed: Callable[[], None] = lambda: None) -> KeyRing | None:
        """The issuer's keys; `None` if every token is introspected."""
        if self.jwks is None and self.introspection is not None:
            return None
        load = loader(self.jwks, self.issuer, allow_http=self.allow_http)
        return KeyRing(load, lifetime=self.keys_kept, pause=self.keys_pause, changed=changed)

    def metadata(self) -> dict[str, Any]:
        """The protected resource metadata, which points clients to the authorization server (RFC 9728)."""
        supported = self.scopes if self.scopes_supported is None else self.scopes_supported
        return describe(
            self.address,
            self.issuer,
            supported,
            resource_name=self.name,
            dpop_signing_alg_values_supported=list(ALGORITHMS),
            dpop_bound_access_tokens_required=self.dpop.required,
        )

    def protect(self, app: Application, once: Once | None = None) -> Protected:
        """Wrap the application so that only authorized requests reach it. Where several processes serve it,
        `once` notes used proofs for all of them: it takes a key and a time, and returns whether the key is
        new."""
        from .guard import Guard
        from .protected import Protected

        return Protected(app, Guard(self, once))
