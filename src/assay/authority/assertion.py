"""JWT assertions signed by another party, and how they are verified (RFC 7523, 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import jwt

from .keys import ALGORITHMS, UNREADABLE

if TYPE_CHECKING:
    from .authority import Authority


class InvalidAssertion(Exception):
    """The message continues the name of a parameter, as in `assertion has expired`."""


class UnverifiedAssertion(NamedTuple):
    """A decoded JWT whose signature has not been verified."""

    header: dict[str, Any]
    claims: dict[str, Any]


def read_assertion(token: str, bound: int) -> UnverifiedAssertion:
    """
    Raises:
        InvalidAssertion: The text is not a JWT.
    """
    try:
        if len(token) > bound:
            raise ValueError
        claims = jwt.decode(token, options={"verify_signature": False})
        return UnverifiedAssertion(jwt.get_unverified_header(token), claims)
    except UNREADABLE:
        raise InvalidAssertion("is not a JWT") from None


def verify_assertion(
    authority: Authority, token: str, jwks: Mapping[str, Any], audiences: Iterable[str], longest: float = inf
) -> dict[str, Any]:
    """The claims of a valid assertion that one of these keys signed for one of these audiences.

    Raises:
        InvalidAssertion: It is not signed by them, or not valid now.
    """
    claims = _signed(token, jwks, audiences)
    now, leeway = authority.now(), authority.settings.lifetimes.proof
    expires, begins = claims["exp"], claims.get("nbf", now)
    if not all(isinstance(time, int | float) and not isinstance(time, bool) for time in (expires, begins)):
        raise InvalidAssertion("has an exp or nbf that is not a number")
    if not now < expires:  # this order refuses NaN as well
        raise InvalidAssertion("has expired")
    if not expires <= now + longest:
        raise InvalidAssertion(f"is valid for more than {longest:g} s")
    if not begins <= now + leeway:
        raise InvalidAssertion("is not valid yet")
    return claims


def _signed(token: str, jwks: Mapping[str, Any], audiences: Iterable[str]) -> dict[str, Any]:
    # The caller compares the times with the authority's own clock.
    unchecked = dict.fromkeys(("verify_exp", "verify_nbf", "verify_iat"), False)
    options: Any = {**unchecked, "require": ["exp", "aud"]}
    for key in _keys_for(token, jwks):
        try:
            return jwt.decode(token, key, algorithms=ALGORITHMS, audience=[*audiences], options=options)
        except jwt.InvalidSignatureError:
            continue
        except jwt.MissingRequiredClaimError as error:
            raise InvalidAssertion(f"has no {error.claim}") from None
        except jwt.InvalidAudienceError:
            raise InvalidAssertion("is for another audience: aud") from None
        except UNREADABLE as error:
            raise InvalidAssertion(f"is invalid: {type(error).__name__}") from None
    raise InvalidAssertion("is not signed with a known key")


def _keys_for(token: str, jwks: Mapping[str, Any]) -> list[jwt.PyJWK]:
    header = jwt.get_unverified_header(token)
    if header.get("alg") not in ALGORITHMS:
        raise InvalidAssertion(f"must be signed with one of {', '.join(ALGORITHMS)}")
    kid, candidates, keys = header.get("kid"), [], jwks.get("keys")
    for jwk in keys if isinstance(keys, list) else ():
        # A key without an id may match any id.
        if isinstance(jwk, dict) and (kid is None or jwk.get("kid", kid) == kid):
            try:
                candidates.append(jwt.PyJWK(jwk, algorithm=header["alg"]))
            except UNREADABLE:
                continue  # not a key for this algorithm
    return candidates
