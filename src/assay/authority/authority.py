"""The authority itself: its settings, its keys, its records, and tokens of any kind for tests."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from .dpop import Nonces
from .faults import FAULTS, Faults
from .fetch import Fetch, guarded_fetch
from .keys import KeyRing
from .memory import MemoryStore
from .record import (
    Access,
    Client,
    Code,
    Document,
    Grant,
    Once,
    Refresh,
    StoredKey,
    Ticket,
    digest,
    new_secret,
)
from .settings import Settings
from .store import Now, Shelf, Store
from .token import serialize, unsigned

ACCESS_TYPE = "at+jwt"
ID_TYPE = "JWT"
LEEWAY = 60.0
"""Seconds that a retired key is published beyond its last token: clocks differ."""


class Authority:
    """What the endpoints work with. It holds no connection and no task."""

    def __init__(
        self,
        settings: Settings,
        *,
        store: Store | None = None,
        now: Now = time.time,
        fetch: Fetch | None = None,
    ) -> None:
        self.settings = settings
        self.now = now
        self.faults = Faults(settings.faults)
        self.store = store or MemoryStore(now=now)
        self.fetch = fetch or guarded_fetch(settings.bounds, loopback=settings.loopback_documents)
        self.preregistered = {client.id: client for client in settings.clients}
        self.clients = Shelf(self.store, "client", Client)
        self.documents = Shelf(self.store, "document", Document)
        self.tickets = Shelf(self.store, "ticket", Ticket)
        self.codes = Shelf(self.store, "code", Code)
        self.grants = Shelf(self.store, "grant", Grant)
        self.refreshes = Shelf(self.store, "refresh", Refresh)
        self.accesses = Shelf(self.store, "access", Access)
        self.once = Shelf(self.store, "once", Once)
        self.nonces = Nonces(now)
        overlap = settings.lifetimes.access + LEEWAY
        self.keys = KeyRing(Shelf(self.store, "key", StoredKey), settings.algorithm, overlap=overlap, now=now)

    @property
    def issuer(self) -> str:
        return self.settings.issuer

    def jwks(self) -> dict[str, Any]:
        """The public keys, as they are published."""
        return self.faults.spoil("keys", self.keys.jwks())

    def rotate(self) -> str:
        """Sign with a new key from now on; its id."""
        return self.keys.rotate().kid

    def claims(
        self,
        *,
        subject: str,
        client_id: str,
        audience: Iterable[str],
        scopes: Iterable[str],
        lifetime: float | None = None,
        thumbprint: str | None = None,
    ) -> dict[str, Any]:
        """The claims of an access token (RFC 9068), issued now."""
        now, audiences = int(self.now()), list(audience) or [self.settings.audience or self.issuer]
        seconds = self.settings.lifetimes.access if lifetime is None else lifetime
        return {
            "iss": self.issuer,
            "sub": subject,
            "aud": audiences[0] if len(audiences) == 1 else audiences,
            "client_id": client_id,
            "iat": now,
            "exp": now + int(seconds),
            "jti": new_secret(),
            "scope": " ".join(scopes),
            **({} if thumbprint is None else {"cnf": {"jkt": thumbprint}}),
        }

    def sign(self, claims: dict[str, Any], kind: str, faults: Faults, header: Mapping[str, Any] = {}) -> str:
        key = self.keys.current
        token = faults.spoil("token", unsigned(key, claims, kind).headed(**header))
        return serialize(token, key)

    def identify(self, subject: str, client_id: str, *, nonce: str | None = None) -> str:
        """An ID token: who consented, for a client that asked in the way of OpenID Connect."""
        now = int(self.now())
        claims = {"iss": self.issuer, "sub": subject, "aud": client_id, "iat": now, "exp": now + 300}
        return self.sign(claims | ({} if nonce is None else {"nonce": nonce}), ID_TYPE, self.faults)

    def give_out(self, claims: dict[str, Any], *, grant: str = "") -> str:
        """Make an access token of these claims and remember it."""
        token = new_secret() if self.settings.opaque else self.sign(claims, ACCESS_TYPE, self.faults)
        self.remember(token, claims, grant)
        return token

    def remember(self, token: str, claims: dict[str, Any], grant: str = "") -> None:
        record = Access(claims=claims, client_id=claims.get("client_id", ""), grant=grant)
        self.accesses.put(digest(token), record, claims["exp"])

    def mint(
        self,
        subject: str = "developer",
        *,
        audience: str | Iterable[str] = (),
        scopes: Iterable[str] = (),
        client_id: str = "minted",
        lifetime: float | None = None,
        thumbprint: str | None = None,
        fault: str | None = None,
        claims: Mapping[str, Any] | None = None,
        header: Mapping[str, Any] | None = None,
    ) -> str:
        """A signed access token without anybody's consent: for tests.

        `fault` is a fault of tokens, by name. `claims` and `header` change what would be there; none removes
        it. A token with any of these is not known to introspection: nobody was given it. The faults that
        the authority itself was started with do not count here.

        Raises:
            ValueError: there is no such fault of tokens.
        """
        if fault is not None and (fault not in FAULTS or FAULTS[fault].stage != "token"):
            raise ValueError(f"no fault of tokens: {fault}; one of {', '.join(token_faults())}")
        honest = self.claims(
            subject=subject,
            client_id=client_id,
            audience=[audience] if isinstance(audience, str) else audience,
            scopes=scopes,
            lifetime=lifetime,
            thumbprint=thumbprint,
        )
        changed = {name: value for name, value in {**honest, **(claims or {})}.items() if value is not None}
        token = self.sign(changed, ACCESS_TYPE, Faults([fault] if fault else ()), header or {})
        if fault is None and not claims and not header:
            self.remember(token, honest)
        return token


def token_faults() -> list[str]:
    return [name for name, fault in FAULTS.items() if fault.stage == "token"]
