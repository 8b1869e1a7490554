"""JWTs that somebody else has signed, and what must be true of each before it is believed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import jwt

from .keys import ALGORITHMS, UNREADABLE

if TYPE_CHECKING:
    from .authority import Authority


class NotBelieved(Exception):
    """Its text goes after the name of the parameter, as in `assertion has expired`."""


class Claimed(NamedTuple):
    """What a token says about itself, before anybody has looked at its signature."""

    header: dict[str, Any]
    claims: dict[str, Any]


def read(token: str, bound: int) -> Claimed:
    """
    Raises:
        NotBelieved: this is no JWT.
    """
    try:
        if len(token) > bound:
            raise ValueError
        claims = jwt.decode(token, options={"verify_signature": False})
        return Claimed(jwt.get_unverified_header(token), claims)
    except UNREADABLE:
        raise NotBelieved("is no JWT") from None


def believed(
    authority: Authority, token: str, jwks: Mapping[str, Any], names: Iterable[str], longest: float = inf
) -> dict[str, Any]:
    """The claims of a token that one of these keys has signed, for one of these names, and that is good now.

    Raises:
        NotBelieved: it is not.
    """
    claims = _signed(token, jwks, names)
    now, leeway = authority.now(), authority.settings.lifetimes.proof
    expires, begins = claims["exp"], claims.get("nbf", now)
    if not all(isinstance(time, int | float) and not isinstance(time, bool) for time in (expires, begins)):
        raise NotBelieved("has an exp or nbf that is no time")
    if not now < expires:  # so that NaN is refused, too
        raise NotBelieved("has expired")
    if not expires <= now + longest:
        raise NotBelieved(f"is good for more than {longest:g} s")
    if not begins <= now + leeway:
        raise NotBelieved("is not valid yet")
    return claims


def _signed(token: str, jwks: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    # Times are compared with the authority's own clock, by the caller.
    unasked = dict.fromkeys(("verify_exp", "verify_nbf", "verify_iat"), False)
    options: Any = {**unasked, "require": ["exp", "aud"]}
    for key in _keys_for(token, jwks):
        try:
            return jwt.decode(token, key, algorithms=ALGORITHMS, audience=[*names], options=options)
        except jwt.InvalidSignatureError:
            continue
        except jwt.MissingRequiredClaimError as error:
            raise NotBelieved(f"has no {error.claim}") from None
        except jwt.InvalidAudienceError:
            raise NotBelieved("is for somebody else: aud") from None
        except UNREADABLE as error:
            raise NotBelieved(f"is not good: {type(error).__name__}") from None
    raise NotBelieved("is signed with no key that is known for it")


def _keys_for(token: str, jwks: Mapping[str, Any]) -> list[jwt.PyJWK]:
    header = jwt.get_unverified_header(token)
    if header.get("alg") not in ALGORITHMS:
        raise NotBelieved(f"must be signed with one of {', '.join(ALGORITHMS)}")
    kid, found, keys = header.get("kid"), [], jwks.get("keys")
    for jwk in keys if isinstance(keys, list) else ():
        # A key without a name may be meant by any.
        if isinstance(jwk, dict) and (kid is None or jwk.get("kid", kid) == kid):
            try:
                found.append(jwt.PyJWK(jwk, algorithm=header["alg"]))
            except UNREADABLE:
                continue  # a key of another kind, or none
    return found
