"""What a good token grants: to whom, what, and until when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from .address import canonical
from .denial import bad_token
from .json_object import read_only

BINDINGS: Final = frozenset({"jkt", "x5t#S256"})
"""How a token may be bound to its owner: to a key (RFC 9449), to a certificate (RFC 8705)."""


@dataclass(frozen=True, slots=True)
class Grant:
    principal: str
    scopes: frozenset[str]
    expires: float
    """When it ends, by the clock of the wall, with leeway."""
    claims: Mapping[str, Any]
    """Read-only, however deep."""
    key: str | None = None
    """The thumbprint of the key that whoever shows the token must hold."""
    certificate: str | None = None
    """The same for a certificate."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a token must say to be good here."""

    issuer: str
    audiences: frozenset[str]
    """In canonical form."""
    leeway: float = 30.0
    hierarchy: Mapping[str, Iterable[str]] | None = None
    """Which scopes others include."""

    def read(self, claims: Mapping[str, Any], now: float, *, issuer_needed: bool = True) -> Grant:
        """
        Raises:
            Denied: the token is not good, or not for this server, or not now.
        """
        if claims.get("iss") != self.issuer and (issuer_needed or "iss" in claims):
            raise bad_token("the token is of another issuer")
        self._check_audience(claims.get("aud"))
        key, certificate = bindings(claims.get("cnf"))
        return Grant(
            principal_of(claims, self.issuer),
            self.with_included(scopes_of(claims)),
            self._check_times(claims, now),
            self._kept(claims),
            key,
            certificate,
        )

    def _kept(self, claims: Mapping[str, Any]) -> Mapping[str, Any]:
        """A grant is remembered: a handler that changed its claims would change them for others."""
        try:
            kept: Mapping[str, Any] = read_only(claims)
        except RecursionError:
            raise bad_token("its claims are nested without end") from None
        return kept

    def _check_audience(self, given: Any) -> None:
        audiences = [given] if isinstance(given, str) else given
        if not isinstance(audiences, list) or not all(isinstance(each, str) for each in audiences):
            raise bad_token("the token names no audience")
        if self.audiences.isdisjoint(map(canonical, audiences)):
            raise bad_token("the token is for another audience")

    def _check_times(self, claims: Mapping[str, Any], now: float) -> float:
        """When the token ends."""
        expires = moment(claims, "exp")
        if expires is None:
            raise bad_token("the token does not say when it expires")
        if now >= expires + self.leeway:
            raise bad_token("the token has expired")
        for name in ("nbf", "iat"):
            begins = moment(claims, name)
            if begins is not None and now < begins - self.leeway:
                raise bad_token("the token is not valid yet")
        return expires + self.leeway

    def with_included(self, scopes: Iterable[str]) -> frozenset[str]:
        """The scopes, and what they include, however deep."""
        hierarchy = self.hierarchy or {}
        found: set[str] = set()
        waiting = list(scopes)
        while waiting:
            scope = waiting.pop()
            if scope not in found:
                found.add(scope)
                waiting.extend(hierarchy.get(scope, ()))
        return frozenset(found)


def moment(claims: Mapping[str, Any], name: str) -> float | None:
    if name not in claims:
        return None
    found = number(claims[name])
    if found is None:
        raise bad_token("a time in the token is no number")
    return found


def number(given: Any) -> float | None:
    """A number that can be reckoned with; JSON has others, and `True` is none."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    try:
        found = float(given)
    except OverflowError:
        return None
    return found if isfinite(found) else None


def principal_of(claims: Mapping[str, Any], issuer: str) -> str:
    """Who is asking: the subject, or else the client, of an issuer. An issuer has no fragment, so that no
    two of them can be taken for each other."""
    for name in ("sub", "client_id"):
        found = claims.get(name)
        if found is not None and (not isinstance(found, str) or not found):
            raise bad_token("the token does not say properly whose it is")
        if found is not None:
            return f"{issuer}#{name}={found}"
    raise bad_token("the token does not say whose it is")


def scopes_of(claims: Mapping[str, Any]) -> Iterable[str]:
    """`scope` is a text (RFC 9068); some authorization servers write `scp`, or a list."""
    given = claims.get("scope", claims.get("scp", ""))
    if isinstance(given, str):
        return given.split(" ") if given else ()
    if isinstance(given, list) and all(isinstance(each, str) for each in given):
        return given
    raise bad_token("the scopes of the token cannot be read")


def bindings(confirmation: Any) -> tuple[str | None, str | None]:
    """The key and the certificate that a token is bound to."""
    if confirmation is None:
        return None, None
    # A binding that is not known cannot be checked, and a token without its binding is a stolen one.
    known = isinstance(confirmation, dict) and confirmation and confirmation.keys() <= BINDINGS
    if not known or not all(isinstance(each, str) and each for each in confirmation.values()):
        raise bad_token("the token is bound in a way that is not known here")
    return confirmation.get("jkt"), confirmation.get("x5t#S256")
