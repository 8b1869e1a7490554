"""The authority's records. Secrets are stored as digests, except signing keys."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any, Final

from msgspec import Struct, field

SECRET_BYTES: Final = 32
SECRET_METHODS: Final = ("client_secret_basic", "client_secret_post")
METHODS: Final = ("none", *SECRET_METHODS, "private_key_jwt")
"""Methods of client authentication."""
GRANTS: Final = ("authorization_code", "refresh_token", "client_credentials")
"""The default grant types."""
TOKEN_EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EVERY_GRANT: Final = (*GRANTS, TOKEN_EXCHANGE, JWT_BEARER)


def new_secret() -> str:
    return secrets.token_urlsafe(SECRET_BYTES)


def digest(secret: str) -> str:
    """What is stored in place of a secret. One round is enough: ours are long and random, and one from the
    command
    line is known on this machine anyway."""
    # A JSON string may hold a lone surrogate, which UTF-8 cannot encode.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def matches_digest(secret: str, stored: str) -> bool:
    return hmac.compare_digest(digest(secret).encode(), stored.encode())


class Client(Struct, frozen=True, kw_only=True):
    """An OAuth client."""

    id: str
    secret: str = ""
    """A digest; empty for a client without a secret."""
    methods: tuple[str, ...] = ("none",)
    """How the client may authenticate."""
    name: str = ""
    redirects: tuple[str, ...] = ()
    grants: tuple[str, ...] = ("authorization_code",)
    scopes: tuple[str, ...] | None = None
    """The scopes that it may request; `None`: any."""
    jwks: dict[str, Any] | None = None
    jwks_uri: str | None = None
    dpop: bool = False
    """Whether all its tokens are bound to a key."""
    id_elsewhere: str = ""
    """Its id at other authorities, for the grants that it obtains here; empty: the same id."""
    trusted: bool = False
    """Whether it was preregistered and may introspect the tokens of any client."""


class AuthorizationRequest(Struct, frozen=True, kw_only=True):
    """A validated authorization request."""

    client_id: str
    redirect: str
    scopes: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    challenge: str = ""
    state: str | None = None
    nonce: str | None = None
    thumbprint: str | None = None
    """Thumbprint of the key that the code is bound to (RFC 9449, 10)."""


class Ticket(Struct, frozen=True, kw_only=True):
    """A consent page that waits for a decision. `browser` is the digest of the cookie sent with the page."""

    authorization: AuthorizationRequest = field(name="wish")
    browser: str


class Code(Struct, frozen=True, kw_only=True):
    authorization: AuthorizationRequest = field(name="wish")
    subject: str
    grant: str = ""
    """The id of the grant that it was exchanged for; empty until then."""


class Grant(Struct, frozen=True, kw_only=True):
    """What a person allowed a client; its tokens are revoked together."""

    id: str
    client_id: str
    subject: str
    scopes: tuple[str, ...]
    resources: tuple[str, ...]
    expires: float
    thumbprint: str | None = None
    """Refresh tokens are bound to this key."""
    current: str = ""
    """Digest of the valid refresh token; others were rotated."""


class Refresh(Struct, frozen=True, kw_only=True):
    grant: str


class Access(Struct, frozen=True, kw_only=True):
    """An issued access token."""

    claims: dict[str, Any]
    client_id: str = ""
    grant: str = ""
    """The id of its grant; empty for a token without one."""


class UseMarker(Struct, frozen=True):
    """Marks a proof or assertion that may be used only once."""


class StoredKey(Struct, frozen=True, kw_only=True):
    algorithm: str
    pem: str
    created: float = field(name="made")
    retired: bool = False


class Document(Struct, frozen=True, kw_only=True):
    """A fetched document about a client."""

    content: dict[str, Any] = field(default_factory=dict)
