"""What a valid token grants: to which principal, which scopes, until when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from .address import canonical
from .error import bad_token
from .json_object import read_only

BINDINGS: Final = frozenset({"jkt", "x5t#S256"})
"""The bindings that can be verified: to a key (RFC 9449) and to a certificate (RFC 8705)."""


@dataclass(frozen=True, slots=True)
class Grant:
    principal: str
    scopes: frozenset[str]
    expires: float
    """Wall-clock time, leeway included."""
    claims: Mapping[str, Any]
    """Deeply read-only."""
    key: str | None = None
    """Thumbprint of the key that the sender must prove to hold."""
    certificate: str | None = None
    """Thumbprint of the certificate that the sender must use."""


@dataclass(frozen=True, slots=True)
class TokenRules:
    """What the claims of an acceptable token must say."""

    issuer: str
    audiences: frozenset[str]
    """Normalized with `canonical`."""
    leeway: float = 30.0
    hierarchy: Mapping[str, Iterable[str]] | None = None
    """The scopes that a scope includes."""

    def read(self, claims: Mapping[str, Any], now: float, *, issuer_needed: bool = True) -> Grant:
        """
        Raises:
            AuthorizationError: The token is invalid, expired, or for another server.
        """
        # Introspection may omit iss (RFC 7662, 2.2); a signed token must have it (RFC 9068, 2.2).
        if claims.get("iss") != self.issuer and (issuer_needed or "iss" in claims):
            raise bad_token("the token was issued by another issuer")
        self._check_audience(claims.get("aud"))
        key, certificate = bindings(claims.get("cnf"))
        return Grant(
            principal_of(claims, self.issuer),
            self.with_included(scopes_of(claims)),
            self._check_times(claims, now),
            self._freeze(claims),
            key,
            certificate,
        )

    def _freeze(self, claims: Mapping[str, Any]) -> Mapping[str, Any]:
        """Grants are cached: a handler that changed the claims would change them for later requests."""
        try:
            frozen: Mapping[str, Any] = read_only(claims)
        except RecursionError:
            raise bad_token("the claims are nested too deeply") from None
        return frozen

    def _check_audience(self, claim: Any) -> None:
        # A token for another resource is refused, or that resource could replay it here (RFC 9068, 4).
        audiences = [claim] if isinstance(claim, str) else claim
        if not isinstance(audiences, list) or not all(isinstance(audience, str) for audience in audiences):
            raise bad_token("the token names no audience")
        if self.audiences.isdisjoint(map(canonical, audiences)):
            raise bad_token("the token is for another audience")

    def _check_times(self, claims: Mapping[str, Any], now: float) -> float:
        """The time at which the token expires."""
        expires = time_claim(claims, "exp")
        if expires is None:
            raise bad_token("the token has no expiry: exp")
        if now >= expires + self.leeway:
            raise bad_token("the token has expired")
        for name in ("nbf", "iat"):
            begins = time_claim(claims, name)
            if begins is not None and now < begins - self.leeway:
                raise bad_token("the token is not valid yet")
        return expires + self.leeway

    def with_included(self, scopes: Iterable[str]) -> frozenset[str]:
        """The scopes with all that they include, transitively."""
        hierarchy = self.hierarchy or {}
        included: set[str] = set()
        pending = list(scopes)
        while pending:
            scope = pending.pop()
            if scope not in included:
                included.add(scope)
                pending.extend(hierarchy.get(scope, ()))
        return frozenset(included)


def time_claim(claims: Mapping[str, Any], name: str) -> float | None:
    if name not in claims:
        return None
    time = finite_number(claims[name])
    if time is None:
        raise bad_token("a time in the token is not a number")
    return time


def finite_number(value: Any) -> float | None:
    """The value as a finite float. `True`, NaN and infinity are refused: they would pass comparisons."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def principal_of(claims: Mapping[str, Any], issuer: str) -> str:
    """The subject, else the client, qualified by the issuer. An issuer has no fragment, so two issuers cannot
    yield the same principal."""
    for name in ("sub", "client_id"):
        identifier = claims.get(name)
        if identifier is not None and (not isinstance(identifier, str) or not identifier):
            raise bad_token("the token names its subject incorrectly: sub or client_id")
        if identifier is not None:
            return f"{issuer}#{name}={identifier}"
    raise bad_token("the token names no subject: sub or client_id")


def scopes_of(claims: Mapping[str, Any]) -> Iterable[str]:
    """`scope` is a string (RFC 9068, 2.2.3); some authorization servers send `scp`, or a list."""
    claim = claims.get("scope", claims.get("scp", ""))
    if isinstance(claim, str):
        return claim.split(" ") if claim else ()
    if isinstance(claim, list) and all(isinstance(scope, str) for scope in claim):
        return claim
    raise bad_token("the scopes of the token cannot be read")


def bindings(confirmation: Any) -> tuple[str | None, str | None]:
    """The key and the certificate that a token is bound to."""
    if confirmation is None:
        return None, None
    # An unknown binding cannot be verified; to ignore it could accept a stolen token.
    known = isinstance(confirmation, dict) and confirmation and confirmation.keys() <= BINDINGS
    if not known or not all(isinstance(value, str) and value for value in confirmation.values()):
        raise bad_token("the token has a binding (cnf) that is not supported here")
    return confirmation.get("jkt"), confirmation.get("x5t#S256")
