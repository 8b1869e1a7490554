"""Signing keys: one that signs, and those before it until their last token has expired."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from math import inf
from typing import Any, Final, NamedTuple

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from .record import StoredKey
from .store import Now, Shelf

MAKERS: Final[dict[str, Callable[[], Any]]] = {
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "RS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "PS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}
ALGORITHMS: Final = tuple(MAKERS)
"""Also what clients may sign with."""

UNREADABLE: Final = (
    jwt.PyJWTError,
    *(ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError),
)
"""What reading a stranger's key or token may end in: the library does not look at everything beforehand."""

# What the thumbprint of a key is made of (RFC 7638, 3.2; RFC 8037, 2).
THUMBPRINT_MEMBERS: Final = {
    "EC": ("crv", "kty", "x", "y"),
    "RSA": ("e", "kty", "n"),
    "OKP": ("crv", "kty", "x"),
}


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def thumbprint(jwk: dict[str, Any]) -> str:
    """
    Raises:
        KeyError: this is no public key of a kind we know.
    """
    members = {name: jwk[name] for name in THUMBPRINT_MEMBERS[jwk["kty"]]}
    canonical = json.dumps(members, sort_keys=True, separators=(",", ":"))
    return base64url(hashlib.sha256(canonical.encode()).digest())


class SigningKey(NamedTuple):
    kid: str
    algorithm: str
    private: Any

    def sign(self, message: bytes) -> bytes:
        signature: bytes = jwt.get_algorithm_by_name(self.algorithm).sign(message, self.private)
        return signature

    def jwk(self) -> dict[str, Any]:
        return {
            **public_jwk(self.algorithm, self.private),
            "kid": self.kid,
            "alg": self.algorithm,
            "use": "sig",
        }

    def public_pem(self) -> bytes:
        pem: bytes = self.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return pem

    def private_pem(self) -> str:
        pem: bytes = self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return pem.decode()


def public_jwk(algorithm: str, private: Any) -> dict[str, Any]:
    made: dict[str, Any] = jwt.get_algorithm_by_name(algorithm).to_jwk(private.public_key(), as_dict=True)
    return {name: value for name, value in made.items() if name != "key_ops"}


def new_key(algorithm: str) -> SigningKey:
    private = MAKERS[algorithm]()
    return SigningKey(thumbprint(public_jwk(algorithm, private)), algorithm, private)


class KeyRing:
    """Kept in the store, so that another process on the same file signs with the same key."""

    def __init__(self, shelf: Shelf[StoredKey], algorithm: str, *, overlap: float, now: Now) -> None:
        self._shelf = shelf
        self._algorithm = algorithm
        self._overlap = overlap
        self._now = now
        self._loaded: dict[str, SigningKey] = {}
        if not self._signing():
            self._add()

    @property
    def current(self) -> SigningKey:
        kid, stored = self._signing()[-1]
        return self._load(kid, stored)

    def rotate(self) -> SigningKey:
        """Sign with a new key from now on. Those before stay known until what they signed has expired."""
        before = self._signing()
        made = self._add()
        until = self._now() + self._overlap
        for kid, stored in before:
            retired = StoredKey(algorithm=stored.algorithm, pem=stored.pem, made=stored.made, retired=True)
            self._shelf.put(kid, retired, until)
        return made

    def jwks(self) -> dict[str, Any]:
        return {"keys": [self._load(kid, stored).jwk() for kid, stored in self._shelf.all()]}

    def _signing(self) -> list[tuple[str, StoredKey]]:
        return [(kid, stored) for kid, stored in self._shelf.all() if not stored.retired]

    def _add(self) -> SigningKey:
        key = new_key(self._algorithm)
        stored = StoredKey(algorithm=key.algorithm, pem=key.private_pem(), made=self._now())
        self._shelf.put(key.kid, stored, inf)
        self._loaded[key.kid] = key
        return key

    def _load(self, kid: str, stored: StoredKey) -> SigningKey:
        if kid not in self._loaded:
            private = load_pem_private_key(stored.pem.encode(), None)
            self._loaded[kid] = SigningKey(kid, stored.algorithm, private)
        return self._loaded[kid]
