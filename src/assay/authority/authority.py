"""The authority: its settings, keys and records, and any token that a test needs."""

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
    Refresh,
    StoredKey,
    Ticket,
    UseMarker,
    digest,
    new_secret,
)
from .settings import Settings
from .store import Now, RecordTable, Store
from .token import serialize, unsigned

ACCESS_TYPE = "at+jwt"
ID_TYPE = "JWT"
LEEWAY = 60.0
"""Seconds that a retired key stays published after its last token expires, for clock skew."""


class Authority:
    """The state that endpoints work on. It holds no connections and no tasks."""

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
        self.clients = RecordTable(self.store, "client", Client)
        self.documents = RecordTable(self.store, "document", Document)
        self.tickets = RecordTable(self.store, "ticket", Ticket)
        self.codes = RecordTable(self.store, "code", Code)
        self.grants = RecordTable(self.store, "grant", Grant)
        self.refreshes = RecordTable(self.store, "refresh", Refresh)
        self.accesses = RecordTable(self.store, "access", Access)
        self.used = RecordTable(self.store, "once", UseMarker)
        self.nonces = Nonces(now)
        overlap = settings.lifetimes.access + LEEWAY
        keys = RecordTable(self.store, "key", StoredKey)
        self.keys = KeyRing(keys, settings.algorithm, overlap=overlap, now=now)

    @property
    def issuer(self) -> str:
        return self.settings.issuer

    def jwks(self) -> dict[str, Any]:
        """The published key set."""
        return self.faults.apply("keys", self.keys.jwks())

    def rotate(self) -> str:
        """Switch to a new signing key; returns its id."""
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
        """The claims of an access token issued now (RFC 9068, 2.2)."""
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
        token = faults.apply("token", unsigned(key, claims, kind).with_header(**header))
        return serialize(token, key)

    def identify(self, subject: str, client_id: str, *, nonce: str | None = None) -> str:
        """An ID token for a client that requested the scope `openid`."""
        now = int(self.now())
        claims = {"iss": self.issuer, "sub": subject, "aud": client_id, "iat": now, "exp": now + 300}
        return self.sign(claims | ({} if nonce is None else {"nonce": nonce}), ID_TYPE, self.faults)

    def issue(self, claims: dict[str, Any], *, grant: str = "") -> str:
        """Make an access token with these claims, and record it."""
        token = new_secret() if self.settings.opaque else self.sign(claims, ACCESS_TYPE, self.faults)
        self.record(token, claims, grant)
        return token

    def record(self, token: str, claims: dict[str, Any], grant: str = "") -> None:
        access = Access(claims=claims, client_id=claims.get("client_id", ""), grant=grant)
        self.accesses.put(digest(token), access, claims["exp"])

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
        """A signed access token without consent, for tests.

        `fault` names a fault of tokens. `claims` and `header` override members, and `None` removes one. A
        token changed in any of these ways is unknown to introspection. Faults that the authority was started
        with do not apply.

        Raises:
            ValueError: `fault` is unknown, or not a fault of tokens.
        """
        if fault is not None and (fault not in FAULTS or FAULTS[fault].stage != "token"):
            raise ValueError(f"no fault of tokens: {fault}; use one of {', '.join(token_faults())}")
        standard = self.claims(
            subject=subject,
            client_id=client_id,
            audience=[audience] if isinstance(audience, str) else audience,
            scopes=scopes,
            lifetime=lifetime,
            thumbprint=thumbprint,
        )
        changed = {name: value for name, value in {**standard, **(claims or {})}.items() if value is not None}
        token = self.sign(changed, ACCESS_TYPE, Faults([fault] if fault else ()), header or {})
        if fault is None and not claims and not header:
            self.record(token, standard)
        return token


def token_faults() -> list[str]:
    return [name for name, fault in FAULTS.items() if fault.stage == "token"]
