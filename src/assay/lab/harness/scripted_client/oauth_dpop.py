"""Proofs that the client holds the key to which its token is bound (RFC 9449)."""

from __future__ import annotations

import secrets
import time
from hashlib import sha256
from typing import Any, Final

import jwt

from assay.authority.keys import base64url, new_key, public_jwk

from .oauth_discovery import origin_of
from .web import WebResponse

ALGORITHM: Final = "ES256"
NONCE: Final = "dpop-nonce"
WANTS_NONCE: Final = "use_dpop_nonce"


class DpopProofs:
    """The proofs of a client, all with the same key."""

    def __init__(self) -> None:
        self._key = new_key(ALGORITHM).private
        self._nonces: dict[str, str] = {}
        """By origin."""

    def make(self, method: str, url: str, token: str = "") -> str:
        """A proof for one request, and for the token that it carries."""
        claims: dict[str, Any] = {
            "jti": secrets.token_urlsafe(16),
            "htm": method,
            "htu": url.partition("?")[0].partition("#")[0],
            "iat": int(time.time()),
        }
        if token:
            claims["ath"] = base64url(sha256(token.encode()).digest())
        if (nonce := self._nonces.get(origin_of(url))) is not None:
            claims["nonce"] = nonce
        header = {"typ": "dpop+jwt", "jwk": public_jwk(ALGORITHM, self._key)}
        return jwt.encode(claims, self._key, ALGORITHM, headers=header)

    def learn(self, url: str, response: WebResponse) -> bool:
        """Store the nonce of a response; returns whether it is a new one."""
        nonce, origin = response.head.get(NONCE), origin_of(url)
        if nonce is None or self._nonces.get(origin) == nonce:
            return False
        self._nonces[origin] = nonce
        return True
