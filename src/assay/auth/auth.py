"""Whose tokens count: what the operator of a protected server decides."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .address import canonical, check_address
from .challenge import check_scopes
from .dpop import DPoP
from .grant import Terms
from .introspection import Introspection
from .key_ring import KeyRing, loader
from .metadata import describe
from .signature import ALGORITHMS

if TYPE_CHECKING:
    from assay.protocol.http.asgi import Application

    from .protected import Protected

TYPES: Final = ("at+jwt", "jwt", None)
"""What a token may say it is: RFC 9068 wants the first, many issuers say the second, or nothing."""


@dataclass(frozen=True, kw_only=True)
class Auth:
    """Lets in who shows a token of `issuer` for `audience`.

    `audience` is the address by which clients know this server, or several, the first of which is the
    `resource` that it tells of itself. `jwks` is where the issuer's keys are: a URL, a file, or the document
    itself; unless it is given, the issuer's metadata says so. `scopes` are needed for everything;
    `hierarchy` tells which scopes include others (`{"admin": ["write"], "write": ["read"]}`).

    Raises:
        ValueError: an option has a value that it cannot have.
    """

    issuer: str
    audience: str | Sequence[str]
    jwks: str | Path | Mapping[str, Any] | None = None
    scopes: Sequence[str] = ()
    scopes_supported: Sequence[str] | None = None
    """What the metadata names; `scopes` by default."""
    hierarchy: Mapping[str, Iterable[str]] = field(default_factory=dict)
    introspection: Introspection | None = None
    """For tokens that only their issuer can read; all of them, if there are no `jwks`."""
    dpop: DPoP = field(default_factory=DPoP)
    resource: str | None = None
    name: str | None = None
    """What this server is called where people are asked for their consent."""
    algorithms: Sequence[str] = ALGORITHMS
    types: Sequence[str | None] = TYPES
    leeway: float = 30.0
    """Seconds that clocks may differ by."""
    keys_kept: float = 300.0
    """Seconds after which it is looked whether the keys have changed."""
    keys_pause: float = 10.0
    """Seconds that must pass before an unknown key makes it look again."""
    remembered: int = 10_000
    """Tokens that were found good and need not be verified again, until they expire or the keys change."""
    allow_http: bool = False
    """Trust the wire to authorization servers that are on other machines and have no TLS."""
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        check_address(self.issuer, "issuer", allow_http=self.allow_http)
        if not self.audiences or not all(self.audiences):
            raise ValueError("audience must be given: the address by which clients know this server")
        check_address(self.address, "the resource (by default the audience)", allow_http=True)
        check_scopes(self.scopes, "scopes")
        check_scopes(self.scopes_supported or (), "scopes_supported")
        strange = [each for each in self.algorithms if each not in ALGORITHMS]
        if strange or not self.algorithms:
            raise ValueError(f"algorithms must be some of {', '.join(ALGORITHMS)}: {strange}")
        if self.introspection is not None:
            check_address(self.introspection.url, "introspection", allow_http=self.allow_http)
        self.key_ring()  # for what it raises

    @property
    def audiences(self) -> tuple[str, ...]:
        return (self.audience,) if isinstance(self.audience, str) else tuple(self.audience)

    @property
    def address(self) -> str:
        """The resource: the address by which clients know this server."""
        return self.resource or self.audiences[0]

    @property
    def terms(self) -> Terms:
        audiences = frozenset(map(canonical, self.audiences))
        return Terms(self.issuer, audiences, self.leeway, self.hierarchy)

    def key_ring(self, changed: Callable[[], None] = lambda: None) -> KeyRing | None:
        """None where every token is asked about."""
        if self.jwks is None and self.introspection is not None:
            return None
        load = loader(self.jwks, self.issuer, allow_http=self.allow_http)
        return KeyRing(load, kept=self.keys_kept, pause=self.keys_pause, changed=changed)

    def metadata(self) -> dict[str, Any]:
        """The document that tells clients where to get tokens (RFC 9728)."""
        supported = self.scopes if self.scopes_supported is None else self.scopes_supported
        return describe(
            self.address,
            self.issuer,
            supported,
            resource_name=self.name,
            dpop_signing_alg_values_supported=list(ALGORITHMS),
            dpop_bound_access_tokens_required=self.dpop.required,
        )

    def protect(self, app: Application) -> Protected:
        """The application, with a guard before it."""
        from .guard import Guard
        from .protected import Protected

        return Protected(app, Guard(self))
