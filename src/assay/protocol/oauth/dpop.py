"""Proofs that the sender of a token holds its key (RFC 9449)."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from .address import origin, server_url
from .effect import Environment, Signer

NONCE: Final = "dpop-nonce"
NONCE_CHARACTERS: Final = 1024
ORIGINS: Final = 16
"""Servers whose nonces are kept."""


class Proofs:
    """Makes proofs, with the nonce that each server demands."""

    def __init__(self, signer: Signer, environment: Environment) -> None:
        self.signer = signer
        self._environment = environment
        self._nonces: dict[tuple[str, str, int], str] = {}

    def make(self, method: str, url: str, token: str | None = None) -> str:
        target = server_url(url).partition("?")[0]
        claims: dict[str, object] = {
            "jti": self._environment.random(),
            "htm": method,
            "htu": target,
            "iat": int(self._environment.now()),
        }
        if token is not None:
            claims["ath"] = urlsafe_b64encode(sha256(token.encode()).digest()).rstrip(b"=").decode()
        nonce = self._nonces.get(origin(target))
        if nonce is not None:
            claims["nonce"] = nonce
        return self.signer.sign({"typ": "dpop+jwt", "jwk": self.signer.public_jwk}, claims)

    def learn(self, url: str, headers: Mapping[str, str]) -> bool:
        """Keep the nonce of a response for the next proofs. Returns whether it is a new one."""
        nonce, server = headers.get(NONCE), origin(server_url(url))
        if nonce is None or len(nonce) > NONCE_CHARACTERS or self._nonces.get(server) == nonce:
            return False
        self._nonces.pop(server, None)
        while len(self._nonces) >= ORIGINS:
            del self._nonces[next(iter(self._nonces))]
        self._nonces[server] = nonce
        return True
