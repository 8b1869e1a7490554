"""Sealing: bytes that go through a client's hands and must come back unchanged.

The sealer is a port. The default signs, so the client can read but not alter what it carries; one
that encrypts with authentication can be given where it must not read either.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from os import urandom
from typing import Final, Protocol, cast

from assay.model.error import MissingExtra

NONCE: Final = 12
TAG: Final = 16


class BrokenSeal(ValueError):
    """The text was not sealed with one of our keys, or was changed since."""


class Sealer(Protocol):
    def seal(self, payload: bytes) -> str:
        """Text that only `open` turns back into the payload."""
        ...

    def open(self, sealed: str) -> bytes:
        """
        Raises:
            BrokenSeal: nothing of it may be believed.
        """
        ...


class HmacSealer:
    """Signs with the first key and accepts all of them, so that keys can be rotated and shared by workers."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        if not keys or any(len(key) < 16 for key in keys):
            raise ValueError("a sealing key has at least 16 bytes, and there is at least one")
        self._keys = tuple(keys)

    def seal(self, payload: bytes) -> str:
        return f"{_text(payload)}.{_text(_sign(self._keys[0], payload))}"

    def open(self, sealed: str) -> bytes:
        from hmac import compare_digest

        body, _, signature = sealed.partition(".")
        payload, given = _bytes(body), _bytes(signature)
        if not any(compare_digest(_sign(key, payload), given) for key in self._keys):
            raise BrokenSeal("signature does not match")
        return payload


class EncryptingSealer:
    """Encrypts with AES-GCM under the first key and opens with any: clients cannot read what they carry.

    Keys have 16, 24 or 32 bytes. Nonces are random, so one key should seal no more than 2**32 times.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        try:
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError:
            raise MissingExtra('encryption needs cryptography: pip install "assay-mcp[auth]"') from None
        if not keys:
            raise ValueError("there must be at least one key")
        self._ciphers = [AESGCM(key) for key in keys]
        self._wrong = InvalidTag

    def seal(self, payload: bytes) -> str:
        nonce = urandom(NONCE)
        return _text(nonce + self._ciphers[0].encrypt(nonce, payload, None))

    def open(self, sealed: str) -> bytes:
        data = _bytes(sealed)
        if len(data) < NONCE + TAG:
            raise BrokenSeal("not in sealed form")
        for cipher in self._ciphers:
            try:
                return cipher.decrypt(data[:NONCE], data[NONCE:], None)
            except self._wrong:
                continue
        raise BrokenSeal("no key opens it")


def make_sealer(given: Sealer | bytes | Sequence[bytes] | None) -> Sealer:
    """The sealer that is given, or one that signs with the keys that are, or with a key of its own."""
    if given is None:
        given = urandom(32)
    if isinstance(given, bytes):
        return HmacSealer([given])
    return HmacSealer(given) if isinstance(given, list | tuple) else cast(Sealer, given)


def _sign(key: bytes, payload: bytes) -> bytes:
    # Loaded by the first question that is asked by retry: most servers ask none.
    import hmac

    return hmac.digest(key, payload, "sha256")


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    try:
        data = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        raise BrokenSeal("not in sealed form") from None
    # The decoder skips what is not Base64: only the one spelling that we write is ours.
    if _text(data) != text:
        raise BrokenSeal("not in sealed form")
    return data
