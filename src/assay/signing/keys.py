"""Ed25519 key pairs, in files that OpenSSL can read.

A verifier gets the public key from its owner and names it: a key that comes with the evidence proves nothing.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

SIGNING_ENDING: Final = ".key"
PUBLIC_ENDING: Final = ".pub"
MAX_FILE_BYTES: Final = 16 * 1024
"""A key takes about 120 bytes; a longer file is not a key."""


class BadKey(ValueError):
    """A key cannot be read or written; the message names the file, the cause and the fix."""


@dataclass(frozen=True)
class PublicKey:
    """A verification key of 32 bytes."""

    raw: bytes

    @cached_property
    def id(self) -> str:
        """SHA-256 of the key as written by `openssl pkey -pubin -outform DER`."""
        der = self._key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return f"sha256:{sha256(der).hexdigest()}"

    def pem(self) -> bytes:
        return self._key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def has_signed(self, message: bytes, signature: bytes) -> bool:
        try:
            self._key().verify(signature, message)
        except InvalidSignature:
            return False
        return True

    def _key(self) -> Ed25519PublicKey:
        return Ed25519PublicKey.from_public_bytes(self.raw)


@dataclass(frozen=True, repr=False)
class SigningKey:
    """A private key, which its `repr` does not show."""

    key: Ed25519PrivateKey

    @cached_property
    def public(self) -> PublicKey:
        return PublicKey(self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))

    def sign(self, message: bytes) -> bytes:
        return self.key.sign(message)

    def pem(self) -> bytes:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def generate() -> SigningKey:
    return SigningKey(Ed25519PrivateKey.generate())


def write_pair(key: SigningKey, name: str) -> tuple[Path, Path]:
    """Write `name.key`, readable only by its owner, and `name.pub`, without replacing any file.

    Raises:
        BadKey: A file exists or cannot be written. Then neither is left behind.
    """
    signing, public = Path(name + SIGNING_ENDING), Path(name + PUBLIC_ENDING)
    _create(signing, key.pem(), 0o600)
    try:
        _create(public, key.public.pem(), 0o644)
    except BadKey:
        signing.unlink()
        raise
    return signing, public


def _create(path: Path, content: bytes, mode: int) -> None:
    try:
        # O_EXCL follows no symbolic link and replaces nothing; the mode applies from the first byte.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise BadKey(f"{path} exists, and keys are never overwritten: choose another name") from None
    except OSError as error:
        raise BadKey(f"cannot write {path}: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError as error:
        path.unlink()
        raise BadKey(f"cannot write {path}: {error.strerror}") from error


def read_signing_key(path: Path) -> SigningKey:
    """
    Raises:
        BadKey: The file is not a private Ed25519 key in PEM.
    """
    data = _pem(path)
    if b"PUBLIC KEY-----" in data:
        raise BadKey(f"{path} is a public key: sign with the matching {SIGNING_ENDING} file")
    if b"ENCRYPTED" in data:
        raise BadKey(f"{path} is encrypted: decrypt it first, for example with `openssl pkey -in {path}`")
    try:
        key = load_pem_private_key(data, None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise BadKey(f"{path} is not a private key in PEM: create one with `assay keygen`") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise BadKey(f"{path} is not an Ed25519 key: create one with `assay keygen`")
    return SigningKey(key)


def read_public_key(path: Path) -> PublicKey:
    """
    Raises:
        BadKey: The file is not a public Ed25519 key in PEM.
    """
    data = _pem(path)
    if b"PRIVATE KEY-----" in data:
        raise BadKey(f"{path} is a private key: use the {PUBLIC_ENDING} file, and keep this one secret")
    try:
        key = load_pem_public_key(data)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise BadKey(
            f"{path} is not a public key in PEM: ask its owner for the {PUBLIC_ENDING} file"
        ) from error
    if not isinstance(key, Ed25519PublicKey):
        raise BadKey(f"{path} is not an Ed25519 key")
    return PublicKey(key.public_bytes(Encoding.Raw, PublicFormat.Raw))


def _pem(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise BadKey(f"cannot read {path}: {error.strerror}") from error
    if len(data) > MAX_FILE_BYTES:
        raise BadKey(f"{path} is not a key: it is longer than {MAX_FILE_BYTES} bytes")
    return data
