"""What an authority remembers. Secrets are kept as digests only, signing keys aside."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any, Final

from msgspec import Struct, field

SECRET_BYTES: Final = 32
SECRET_METHODS: Final = ("client_secret_basic", "client_secret_post")
METHODS: Final = ("none", *SECRET_METHODS, "private_key_jwt")
"""How clients authenticate."""
GRANTS: Final = ("authorization_code", "refresh_token", "client_credentials")
"""What clients exchange for tokens, unless somebody decides otherwise."""
TOKEN_EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EVERY_GRANT: Final = (*GRANTS, TOKEN_EXCHANGE, JWT_BEARER)


def new_secret() -> str:
    return secrets.token_urlsafe(SECRET_BYTES)


def digest(secret: str) -> str:
    """What is kept instead of a secret. Ours are long and random, so one round is enough; one that came by
    the command line is known to this machine anyway."""
    # JSON can have halves of characters in it, which have no UTF-8.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def is_secret(given: str, kept: str) -> bool:
    return hmac.compare_digest(digest(given).encode(), kept.encode())


class Client(Struct, frozen=True, kw_only=True):
    """An application that asks for tokens."""

    id: str
    secret: str = ""
    """The digest; empty for a client without one."""
    methods: tuple[str, ...] = ("none",)
    """How it may authenticate."""
    name: str = ""
    redirects: tuple[str, ...] = ()
    grants: tuple[str, ...] = ("authorization_code",)
    scopes: tuple[str, ...] | None = None
    """What it may ask for; none: whatever the authority has."""
    jwks: dict[str, Any] | None = None
    jwks_uri: str | None = None
    dpop: bool = False
    """All its tokens are bound to a key."""
    id_elsewhere: str = ""
    """How other authorities know it, to which it brings what it gets here; empty: by the same id."""
    trusted: bool = False
    """Named by whoever runs the authority: it may look into anybody's tokens."""


class Wish(Struct, frozen=True, kw_only=True):
    """A valid authorization request, on its way to a person."""

    client_id: str
    redirect: str
    scopes: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    challenge: str = ""
    state: str | None = None
    nonce: str | None = None
    thumbprint: str | None = None
    """Of the key that the code is bound to (RFC 9449, 10)."""


class Ticket(Struct, frozen=True, kw_only=True):
    """A consent page that waits for its click. `browser` is the digest of the cookie it was shown with."""

    wish: Wish
    browser: str


class Code(Struct, frozen=True, kw_only=True):
    wish: Wish
    subject: str
    grant: str = ""
    """What came of it; empty until it is used."""


class Grant(Struct, frozen=True, kw_only=True):
    """What a person allowed a client, and the family of tokens that comes of it."""

    id: str
    client_id: str
    subject: str
    scopes: tuple[str, ...]
    resources: tuple[str, ...]
    expires: float
    thumbprint: str | None = None
    """Refresh tokens work with this key only."""
    current: str = ""
    """Digest of the one refresh token that is still good."""


class Refresh(Struct, frozen=True, kw_only=True):
    grant: str


class Access(Struct, frozen=True, kw_only=True):
    """An access token that was given out."""

    claims: dict[str, Any]
    client_id: str = ""
    grant: str = ""
    """Its family; empty for a token without one."""


class Once(Struct, frozen=True):
    """Something that may be seen only one time."""


class StoredKey(Struct, frozen=True, kw_only=True):
    algorithm: str
    pem: str
    made: float
    retired: bool = False


class Document(Struct, frozen=True, kw_only=True):
    """What was fetched about a client."""

    content: dict[str, Any] = field(default_factory=dict)
