"""What a client stores of its authorization at one server. All of it is secret."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Struct

ISSUERS: Final = 8
"""Authorization servers of one server whose credentials are kept."""


class Registration(Struct, frozen=True, omit_defaults=True):
    """A client as an authorization server knows it."""

    client_id: str
    client_secret: str | None = None
    method: str = "none"
    """How it authenticates at the token endpoint."""
    redirect_uri: str | None = None
    expires: float | None = None
    """When the secret ceases to be valid."""
    scopes: tuple[str, ...] = ()
    """The only ones that it may request; empty for any."""
    dynamic: bool = False
    """Whether it was registered by this program, and can be again."""

    def __repr__(self) -> str:
        return f"Registration({self.client_id!r})"  # tracebacks and logs must not show secrets


class Tokens(Struct, frozen=True, omit_defaults=True):
    access_token: str
    token_type: str = "Bearer"
    expires: float | None = None
    refresh_token: str | None = None
    scopes: tuple[str, ...] = ()
    """Granted."""
    resource: str = ""
    token_endpoint: str = ""
    """Where the refresh token may be sent."""
    client_id: str = ""

    def __repr__(self) -> str:
        return f"Tokens({self.token_type}, scopes={self.scopes})"

    def is_stale(self, now: float) -> bool:
        return self.expires is not None and self.expires <= now


class Credentials(Struct, frozen=True, omit_defaults=True):
    """Those of one authorization server."""

    registration: Registration | None = None
    tokens: Tokens | None = None
    requested: tuple[str, ...] = ()
    """Every scope that was requested so far."""


class Record(Struct, frozen=True, omit_defaults=True):
    """Credentials by issuer: those of one authorization server are never used at another."""

    issuer: str = ""
    """The one whose tokens the server accepts now."""
    by_issuer: dict[str, Credentials] = {}
    key: str = ""
    """The private key of DPoP proofs, as PEM; empty without one."""

    def __repr__(self) -> str:
        return f"Record({self.issuer!r})"

    @property
    def tokens(self) -> Tokens | None:
        return self.at(self.issuer).tokens

    def at(self, issuer: str) -> Credentials:
        return self.by_issuer.get(issuer) or Credentials()

    def updated(self, issuer: str, **changes: Any) -> Record:
        """With changed credentials at an issuer, which becomes the current one."""
        entry = msgspec.structs.replace(self.at(issuer), **changes)
        others = {name: other for name, other in self.by_issuer.items() if name != issuer}
        recent = dict(list(others.items())[-(ISSUERS - 1) :])
        return msgspec.structs.replace(self, issuer=issuer, by_issuer={**recent, issuer: entry})
