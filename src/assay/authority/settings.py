"""Everything about an authority that whoever runs it decides."""

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
"""One scope (RFC 6749, 3.3), with a bound."""
SPECIAL_SCOPES: Final = ("openid", "offline_access")
PATH: Final = re.compile(r"(?:/[A-Za-z0-9._~-]+)*")
"""Below which endpoints can be."""


class Lifetimes(Struct, frozen=True, kw_only=True):
    """Seconds."""

    access: float = 300.0
    code: float = 60.0
    refresh: float = 86_400.0
    """Of a whole family, from consent on."""
    ticket: float = 600.0
    """How long a consent page waits for its click."""
    proof: float = 60.0
    """How far from now a client's proof may have been made."""
    assertion: float = 600.0
    """The longest that an assertion by which a client authenticates may be good for."""
    document: float = 300.0
    """How long what a client publishes is believed, where it does not say."""


class Bounds(Struct, frozen=True, kw_only=True):
    body_bytes: int = 64 * 1024
    body_seconds: float = 10.0
    fields: int = 64
    """Parameters of one request."""
    items: int = 32
    """Redirect addresses, scopes, resources or keys of one client or request."""
    document_bytes: int = 16 * 1024
    fetch_seconds: float = 5.0
    token_chars: int = 16 * 1024


class Trusted(Struct, frozen=True, kw_only=True):
    """Somebody else who can say who a subject is."""

    issuer: str
    jwks: dict[str, Any]
    type: str | None = None
    """The `typ` that its assertions must have; none: any."""
    client_id: str = ""
    """Who brings its assertions, where a request does not say."""


class Settings(Struct, frozen=True, kw_only=True):
    issuer: str
    endpoints: str = ""
    """Where the endpoints are, below the issuer, such as `/oauth`."""
    users: tuple[str, ...] = ("developer",)
    """Who can consent. There are no passwords: this is no place for people's accounts."""
    clients: tuple[Client, ...] = ()
    scopes: tuple[str, ...] = ()
    """What can be granted; empty: whatever a client asks for."""
    resources: tuple[str, ...] = ()
    """What tokens may be for; empty: whatever a client names."""
    refused_scopes: dict[str, str] = {}
    """Scopes that are never granted, each with the error code that says so."""
    audience: str | None = None
    """What a token is for when its client named no resource; none: the issuer."""
    algorithm: str = "ES256"
    opaque: bool = False
    """Access tokens are random text, to be looked up by introspection."""
    auto_approve: bool = False
    methods: tuple[str, ...] = METHODS
    """How clients that register or have a document may authenticate. Who wants another one gets the first."""
    grants: tuple[str, ...] = GRANTS
    """What can be exchanged for tokens, of `EVERY_GRANT`."""
    trusted: tuple[Trusted, ...] = ()
    """Whose assertions are taken, where `grants` has such an exchange."""
    registration: bool = True
    documents: bool = True
    """A client id may be the address of a document about the client."""
    published: dict[str, dict[str, Any]] = {}
    """Documents by address: these are not fetched."""
    loopback_documents: bool = False
    """Such a document may be on this machine, without TLS."""
    dpop_nonce: bool = False
    """Proofs must have a nonce of ours."""
    dev_mint: bool = False
    """Programs on this machine may mint any token and rotate the key, over HTTP."""
    metadata: dict[str, Any] = {}
    """Members of the metadata that are to be others; none removes one."""
    faults: tuple[str, ...] = ()
    slowness: float = 30.0
    """Seconds that the fault `slow` takes."""
    elsewhere: str = ELSEWHERE
    """Where the fault `metadata-redirect` leads."""
    lifetimes: Lifetimes = Lifetimes()
    bounds: Bounds = Bounds()

    def __post_init__(self) -> None:
        check_issuer(self.issuer)
        Faults(self.faults)
        if self.algorithm not in ALGORITHMS:
            raise ValueError(f"unknown algorithm: {self.algorithm}; one of {', '.join(ALGORITHMS)}")
        if not self.users:
            raise ValueError("an authority needs a user")
        if not PATH.fullmatch(self.endpoints):
            raise ValueError(f"endpoints are below a path such as /oauth: {self.endpoints!r}")
        check_names("method", self.methods, METHODS)
        check_names("grant", self.grants, EVERY_GRANT)
        for scope in self.scopes:
            if not SCOPE.fullmatch(scope):
                raise ValueError(f"no scope of OAuth: {scope!r}")

    @property
    def path(self) -> str:
        """Where the endpoints begin; empty for an issuer without a path."""
        return urlsplit(self.issuer).path.rstrip("/")

    def url(self, place: str) -> str:
        """Where an endpoint is."""
        return f"{self.issuer.rstrip('/')}{self.endpoints}{place}"

    @property
    def names(self) -> tuple[str, ...]:
        """What an assertion for this authority may call it. Many who normalize URLs append a slash."""
        issuer = self.issuer.rstrip("/")
        return issuer, f"{issuer}/", self.url("/token")


def check_names(word: str, given: tuple[str, ...], known: tuple[str, ...]) -> None:
    """
    Raises:
        ValueError: there are none, or some that nobody knows.
    """
    unknown = [name for name in given if name not in known]
    if unknown or not given:
        raise ValueError(f"unknown {word}: {', '.join(unknown) or 'none given'}; of {', '.join(known)}")


def check_issuer(issuer: str) -> None:
    """
    Raises:
        ValueError: no client would take this for an issuer.
    """
    parts = urlsplit(issuer)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"an issuer is an http or https URL: {issuer!r}")
    if parts.query or parts.fragment or "?" in issuer or "#" in issuer or parts.username is not None:
        raise ValueError(f"an issuer has no query, fragment or user: {issuer!r}")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise ValueError(f"an issuer off this machine needs https: {issuer!r}")
