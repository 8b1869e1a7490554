"""DPoP proofs at the token endpoint (RFC 9449)."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import jwt

from .error import OAuthError
from .keys import ALGORITHMS, UNREADABLE, base64url, thumbprint
from .record import UseMarker, digest
from .store import Now

if TYPE_CHECKING:
    from .authority import Authority
    from .http import Request

PRIVATE_MEMBERS: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
NONCE_WINDOW: Final = 120


class Nonces:
    """Stateless nonces: each is an HMAC over the period in which it is valid."""

    def __init__(self, now: Now) -> None:
        self._now = now
        self._secret = secrets.token_bytes(32)

    def current(self) -> str:
        return self._of(self._window())

    def accepts(self, nonce: object) -> bool:
        window = self._window()
        valid = (self._of(window), self._of(window - 1))
        if not isinstance(nonce, str) or not nonce.isascii():
            return False
        return any(hmac.compare_digest(nonce, each) for each in valid)

    def _window(self) -> int:
        return int(self._now()) // NONCE_WINDOW

    def _of(self, window: int) -> str:
        return base64url(hmac.digest(self._secret, b"%d" % window, hashlib.sha256))


def proven_key(authority: Authority, request: Request) -> str | None:
    """The thumbprint of the key that the request proves possession of; `None` without a proof.

    Raises:
        OAuthError: The proof is invalid, for another request, or was used before.
    """
    proofs = request.every("dpop")
    if not proofs:
        return None
    if len(proofs) > 1:
        raise bad_proof("more than one proof")
    jwk, claims = _open(proofs[0], authority.settings.bounds.token_chars)
    _check(authority, claims)
    key = digest(f"{thumbprint(jwk)} {claims['jti']}")
    until = authority.now() + 2 * authority.settings.lifetimes.proof
    if not authority.used.add(f"proof {key}", UseMarker(), until):
        raise bad_proof("this proof was used before")
    return thumbprint(jwk)


def bad_proof(reason: str) -> OAuthError:
    return OAuthError("invalid_dpop_proof", reason)


def _open(proof: str, bound: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The key and the claims of a proof that is signed with that key."""
    if len(proof) > bound:
        raise bad_proof("the proof is too long")
    try:
        header = jwt.get_unverified_header(proof)
        jwk, algorithm = header.get("jwk"), header.get("alg")
        if header.get("typ") != "dpop+jwt" or algorithm not in ALGORITHMS:
            raise bad_proof(f"typ is not dpop+jwt, or alg is not one of {', '.join(ALGORITHMS)}")
        if not isinstance(jwk, dict) or PRIVATE_MEMBERS & jwk.keys():
            raise bad_proof("the header must hold a public key, and no private members: jwk")
        key = jwt.PyJWK(jwk, algorithm=algorithm)
        # `_check` compares the times with the authority's own clock.
        unchecked = ("verify_aud", "verify_iat", "verify_exp", "verify_nbf", "verify_iss", "verify_sub")
        options: Any = {**dict.fromkeys(unchecked, False), "require": ["jti", "htm", "htu", "iat"]}
        claims = jwt.decode(proof, key, algorithms=[algorithm], options=options)
        thumbprint(jwk)
    except UNREADABLE as error:
        raise bad_proof(f"the proof is invalid: {type(error).__name__}") from None
    return jwk, claims


def _check(authority: Authority, claims: dict[str, Any]) -> None:
    settings = authority.settings
    if claims["htm"] != "POST" or not same_address(claims["htu"], settings.url("/token")):
        raise bad_proof(f"the proof is not for POST {settings.url('/token')}")
    issued = claims["iat"]
    if isinstance(issued, bool) or not isinstance(issued, int | float):
        raise bad_proof("iat is not a number")
    now, window = authority.now(), settings.lifetimes.proof
    if not now - window <= issued <= now + window:  # this order refuses NaN, and takes integers of any size
        raise bad_proof(f"iat is more than {settings.lifetimes.proof:g} s from now")
    if not isinstance(claims["jti"], str) or not claims["jti"]:
        raise bad_proof("jti is not a string")
    _check_nonce(authority, claims.get("nonce"))


def same_address(htu: object, ours: str) -> bool:
    """Whether both URLs are equal after normalization (RFC 9449, 4.3; RFC 3986, 6.2)."""
    try:
        return isinstance(htu, str) and _normalize(htu) == _normalize(ours)
    except ValueError:
        return False


def _normalize(url: str) -> tuple[str, str | None, int | None, str, str, str]:
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, port, parts.path or "/", parts.query, parts.fragment


def _check_nonce(authority: Authority, nonce: object) -> None:
    """A nonce in the proof must be valid even where none is required."""
    checked = authority.settings.dpop_nonce or nonce is not None
    if checked and not authority.nonces.accepts(nonce):
        headers = {"dpop-nonce": authority.nonces.current()}
        raise OAuthError(
            "use_dpop_nonce", "put the nonce from the DPoP-Nonce header into the proof", headers=headers
        )
