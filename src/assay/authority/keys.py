"""Signing keys: the current one, and retired ones until their last token expires."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from math import inf
from typing import Any, Final, NamedTuple

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from .record import StoredKey
from .store import Now, RecordTable

GENERATORS: Final[dict[str, Callable[[], Any]]] = {
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "RS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "PS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}
ALGORITHMS: Final = tuple(GENERATORS)
"""Clients may sign with these too."""

UNREADABLE: Final = (
    jwt.PyJWTError,
    *(ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError),
)
"""Errors from untrusted keys and tokens, which PyJWT does not validate completely."""

# The members of a key's thumbprint (RFC 7638, 3.2; RFC 8037, 2).
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
        KeyError: This is not a public key of a known type.
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
    jwk: dict[str, Any] = jwt.get_algorithm_by_name(algorithm).to_jwk(private.public_key(), as_dict=True)
    return {name: value for name, value in jwk.items() if name != "key_ops"}


def new_key(algorithm: str) -> SigningKey:
    private = GENERATORS[algorithm]()
    return SigningKey(thumbprint(public_jwk(algorithm, private)), algorithm, private)


class KeyRing:
    """Stored, so that processes that share the store sign with the same key."""

    def __init__(self, table: RecordTable[StoredKey], algorithm: str, *, overlap: float, now: Now) -> None:
        self._table = table
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
        """Switch to a new key. Retired keys stay published until the tokens that they signed expire."""
        retiring = self._signing()
        current = self._add()
        until = self._now() + self._overlap
        for kid, stored in retiring:
            retired = msgspec.structs.replace(stored, retired=True)
            self._table.put(kid, retired, until)
        return current

    def jwks(self) -> dict[str, Any]:
        return {"keys": [self._load(kid, stored).jwk() for kid, stored in self._table.all()]}

    def _signing(self) -> list[tuple[str, StoredKey]]:
        return [(kid, stored) for kid, stored in self._table.all() if not stored.retired]

    def _add(self) -> SigningKey:
        key = new_key(self._algorithm)
        stored = StoredKey(algorithm=key.algorithm, pem=key.private_pem(), created=self._now())
        self._table.put(key.kid, stored, inf)
        self._loaded[key.kid] = key
        return key

    def _load(self, kid: str, stored: StoredKey) -> SigningKey:
        if kid not in self._loaded:
            private = load_pem_private_key(stored.pem.encode(), None)
            self._loaded[kid] = SigningKey(kid, stored.algorithm, private)
        return self._loaded[kid]
