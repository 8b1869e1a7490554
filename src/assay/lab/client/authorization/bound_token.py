"""Tokens that are bound to a key, and the proofs that come with them (RFC 9449): what is wrong with one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import jwt

from assay.authority.dpop import PRIVATE_MEMBERS, same_address
from assay.authority.keys import UNREADABLE, base64url, thumbprint

from .machine import read_jwt

SCHEME: Final = "dpop"
NONCE: Final = "dpop-nonce"
WANTS_NONCE: Final = "use_dpop_nonce"
TYPE: Final = "dpop+jwt"
ASYMMETRIC: Final = ("ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA")
REGISTERED: Final = ("aud", "exp", "iat", "iss", "jti", "nbf", "sub")
"""Claims that the library would judge by its own rules."""
WINDOW: Final = 300.0
"""Seconds that a proof may be made before or after it is seen."""


class Unproved(Exception):
    """Says what is wrong with a proof."""


def proved(
    proofs: Sequence[str], token: str, method: str, url: str, moment: float | None = None
) -> dict[str, Any]:
    """The claims of the proof that a request with this token has. The moment is when it was seen, in seconds
    since 1970; none where nobody knows.

    Raises:
        Unproved: there is no proof, or it is not good for this request and this token.
    """
    if len(proofs) != 1:
        raise Unproved("no proof" if not proofs else "more than one proof")
    jwk, claims = _opened(proofs[0])
    _made_for(claims, method, url, moment)
    if claims.get("ath") != base64url(hashlib.sha256(token.encode()).digest()):
        raise Unproved("ath is not the hash of the token")
    if read_jwt(token).claims.get("cnf") != {"jkt": thumbprint(jwk)}:
        raise Unproved("the token is not bound to the key of the proof")
    return claims


def _opened(proof: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The key in a proof, and the claims that this key has signed."""
    try:
        header = jwt.get_unverified_header(proof)
        jwk, algorithm = header.get("jwk"), header.get("alg")
        if header.get("typ") != TYPE:
            raise Unproved(f"typ {header.get('typ')!r}, not {TYPE}")
        if algorithm not in ASYMMETRIC:
            raise Unproved(f"alg {algorithm!r}, which is not asymmetric")
        if not isinstance(jwk, dict) or PRIVATE_MEMBERS & jwk.keys():
            raise Unproved("the header does not have the public key, and that alone")
        unasked: Any = dict.fromkeys((f"verify_{name}" for name in REGISTERED), False)
        thumbprint(jwk)
        claims = jwt.decode(
            proof, jwt.PyJWK(jwk, algorithm=algorithm), algorithms=[algorithm], options=unasked
        )
    except UNREADABLE as error:
        raise Unproved(f"not a JWT that its key has signed: {type(error).__name__}") from None
    return jwk, claims


def _made_for(claims: dict[str, Any], method: str, url: str, moment: float | None) -> None:
    if claims.get("htm") != method:
        raise Unproved(f"htm {claims.get('htm')!r}, not {method}")
    if not same_address(claims.get("htu"), url):
        raise Unproved(f"htu {claims.get('htu')!r}, not {url}")
    if not isinstance(claims.get("jti"), str) or not claims["jti"]:
        raise Unproved("no jti")
    issued = claims.get("iat")
    if isinstance(issued, bool) or not isinstance(issued, int | float):
        raise Unproved("no iat")
    # So that NaN is refused, and no number is too great.
    if moment is not None and not moment - WINDOW <= issued <= moment + WINDOW:
        raise Unproved(f"iat is more than {WINDOW:g} s from when it was sent")
