"""The settings of an authority."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

from .faults import ELSEWHERE, Faults
from .keys import ALGORITHMS
from .record import EVERY_GRANT, GRANTS, METHODS, Client

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,200}")
"""One scope (RFC 6749, 3.3), of bounded length."""
SPECIAL_SCOPES: Final = ("openid", "offline_access")
PATH: Final = re.compile(r"(?:/[A-Za-z0-9._~-]+)*")
"""Path prefixes for endpoints."""


class Lifetimes(Struct, frozen=True, kw_only=True):
    """In seconds."""

    access: float = 300.0
    code: float = 60.0
    refresh: float = 86_400.0
    """Of a grant, counted from consent."""
    ticket: float = 600.0
    """How long a consent page waits for a decision."""
    proof: float = 60.0
    """How far the `iat` of a DPoP proof may be from now."""
    assertion: float = 600.0
    """The longest validity of an assertion for client authentication."""
    document: float = 300.0
    """How long a client's document is cached if it does not say."""


class Bounds(Struct, frozen=True, kw_only=True):
    body_bytes: int = 64 * 1024
    body_seconds: float = 10.0
    fields: int = 64
    """Parameters of one request."""
    items: int = 32
    """Redirect URIs, scopes, resources or keys of one client or request."""
    document_bytes: int = 16 * 1024
    fetch_seconds: float = 5.0
    token_chars: int = 16 * 1024


class Trusted(Struct, frozen=True, kw_only=True):
    """An issuer whose assertions are accepted."""

    issuer: str
    jwks: dict[str, Any]
    type: str | None = None
    """The `typ` that its assertions must have; `None`: any."""
    client_id: str = ""
    """The client of its assertions, if the request names none."""


class Settings(Struct, frozen=True, kw_only=True):
    issuer: str
    endpoints: str = ""
    """Path of the endpoints below the issuer, such as `/oauth`."""
    users: tuple[str, ...] = ("developer",)
    """Who can consent, without a password: never use this server for real accounts."""
    clients: tuple[Client, ...] = ()
    scopes: tuple[str, ...] = ()
    """The scopes that can be granted; empty: any."""
    resources: tuple[str, ...] = ()
    """The resources that tokens may be for; empty: any."""
    refused_scopes: dict[str, str] = {}
    """Scopes that are always refused, each with its error code."""
    audience: str | None = None
    """The audience of a token whose client named no resource; `None`: the issuer."""
    algorithm: str = "ES256"
    opaque: bool = False
    """Issue random access tokens, to be introspected."""
    auto_approve: bool = False
    methods: tuple[str, ...] = METHODS
    """How registered and described clients may authenticate; the first replaces any other that they ask
    for."""
    grants: tuple[str, ...] = GRANTS
    """The grant types on offer, from `EVERY_GRANT`."""
    trusted: tuple[Trusted, ...] = ()
    """Issuers whose assertions are accepted, if `grants` has such a grant type."""
    registration: bool = True
    documents: bool = True
    """Whether a client id may be the URL of a document about the client."""
    published: dict[str, dict[str, Any]] = {}
    """Documents by URL, to be used without fetching them."""
    loopback_documents: bool = False
    """Whether such a document may be on this machine, without TLS."""
    dpop_nonce: bool = False
    """Require our nonce in DPoP proofs."""
    dev_mint: bool = False
    """Allow programs on this machine to mint any token and to rotate the key, over HTTP."""
    metadata: dict[str, Any] = {}
    """Overrides for members of the metadata; `None` removes a member."""
    faults: tuple[str, ...] = ()
    slowness: float = 30.0
    """Delay of the fault `slow`, in seconds."""
    elsewhere: str = ELSEWHERE
    """Target of the fault `metadata-redirect`."""
    lifetimes: Lifetimes = Lifetimes()
    bounds: Bounds = Bounds()

    def __post_init__(self) -> None:
        check_issuer(self.issuer)
        Faults(self.faults)
        if self.algorithm not in ALGORITHMS:
            raise ValueError(f"unknown algorithm: {self.algorithm}; use one of {', '.join(ALGORITHMS)}")
        if not self.users:
            raise ValueError("users must name at least one user")
        if not PATH.fullmatch(self.endpoints):
            raise ValueError(f"endpoints must be a path such as /oauth: {self.endpoints!r}")
        check_names("method", self.methods, METHODS)
        check_names("grant", self.grants, EVERY_GRANT)
        for scope in self.scopes:
            if not SCOPE.fullmatch(scope):
                raise ValueError(f"not an OAuth scope: {scope!r}")

    @property
    def path(self) -> str:
        """The path of the issuer; empty without one."""
        return urlsplit(self.issuer).path.rstrip("/")

    def url(self, place: str) -> str:
        """The URL of an endpoint."""
        return f"{self.issuer.rstrip('/')}{self.endpoints}{place}"

    @property
    def audiences(self) -> tuple[str, ...]:
        """The accepted `aud` values of an assertion. Some clients append a slash to the issuer."""
        issuer = self.issuer.rstrip("/")
        return issuer, f"{issuer}/", self.url("/token")


def check_names(kind: str, names: tuple[str, ...], known: tuple[str, ...]) -> None:
    """
    Raises:
        ValueError: A name is unknown, or the list is empty.
    """
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise ValueError(f"unknown {kind}: {', '.join(unknown) or 'none given'}; use {', '.join(known)}")


def check_issuer(issuer: str) -> None:
    """
    Raises:
        ValueError: Clients would not accept this issuer (RFC 8414, 2).
    """
    parts = urlsplit(issuer)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"the issuer must be an http or https URL: {issuer!r}")
    if parts.query or parts.fragment or "?" in issuer or "#" in issuer or parts.username is not None:
        raise ValueError(f"the issuer must not have a query, fragment or user: {issuer!r}")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise ValueError(f"an issuer on another machine must be https: {issuer!r}")
