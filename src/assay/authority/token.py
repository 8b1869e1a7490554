"""Build tokens: claims, then a signature by one of several signers, of which only one is correct."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import Struct

from .keys import SigningKey, base64url, new_key


class UnsignedToken(Struct, frozen=True, kw_only=True):
    """A token before it is signed. `signer` is a key of `SIGNERS`."""

    header: dict[str, Any]
    claims: dict[str, Any]
    signer: str = "own"

    def with_claims(self, **claims: Any) -> UnsignedToken:
        """Change these claims; `None` removes one."""
        changed = {name: value for name, value in {**self.claims, **claims}.items() if value is not None}
        return msgspec.structs.replace(self, claims=changed)

    def with_header(self, **header: Any) -> UnsignedToken:
        changed = {name: value for name, value in {**self.header, **header}.items() if value is not None}
        return msgspec.structs.replace(self, header=changed)

    def signed_by(self, signer: str) -> UnsignedToken:
        return msgspec.structs.replace(self, signer=signer)


def unsigned(key: SigningKey, claims: dict[str, Any], kind: str) -> UnsignedToken:
    return UnsignedToken(header={"alg": key.algorithm, "typ": kind, "kid": key.kid}, claims=claims)


def serialize(token: UnsignedToken, key: SigningKey) -> str:
    parts = (base64url(msgspec.json.encode(part)) for part in (token.header, token.claims))
    message = ".".join(parts).encode()
    return f"{message.decode()}.{base64url(SIGNERS[token.signer](key, message))}"


def _stranger(key: SigningKey, message: bytes) -> bytes:
    return new_key(key.algorithm).sign(message)


def _public_as_secret(key: SigningKey, message: bytes) -> bytes:
    return hmac.digest(key.public_pem(), message, hashlib.sha256)


def _other_claims(key: SigningKey, message: bytes) -> bytes:
    return key.sign(message + b"A")


SIGNERS: Final[dict[str, Callable[[SigningKey, bytes], bytes]]] = {
    "own": SigningKey.sign,
    "none": lambda key, message: b"",
    "stranger": _stranger,
    "public-as-secret": _public_as_secret,
    "other-claims": _other_claims,
}
