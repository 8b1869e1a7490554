"""Seals for data that passes through a client and must come back unchanged.

`HmacSealer` signs: the client can read what it carries, but not alter it. `AesGcmSealer` also hides it. Users
may pass any other `Sealer` to a server.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from assay.model.error import MissingExtra

NONCE_BYTES: Final = 12
TAG_BYTES: Final = 16

RandomBytes = Callable[[int], bytes]
"""Returns so many unpredictable bytes. The core has no randomness itself: callers pass `os.urandom`."""


class BrokenSeal(ValueError):
    """The text was not sealed with one of our keys, or was changed since."""


class Sealer(Protocol):
    def seal(self, payload: bytes) -> str:
        """Text from which `open` restores the payload."""
        ...

    def open(self, sealed: str) -> bytes:
        """
        Raises:
            BrokenSeal: the text is not authentic.
        """
        ...


class HmacSealer:
    """Signs with the first key and accepts all of them, so that keys can be rotated and shared by workers."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        if not keys or any(len(key) < 16 for key in keys):
            raise ValueError(
                "give at least one sealing key, each of at least 16 bytes: secrets.token_bytes(32) makes one"
            )
        self._keys = tuple(keys)

    def seal(self, payload: bytes) -> str:
        return f"{_text(payload)}.{_text(_sign(self._keys[0], payload))}"

    def open(self, sealed: str) -> bytes:
        from hmac import compare_digest

        body, _, signature_text = sealed.partition(".")
        payload, signature = _bytes(body), _bytes(signature_text)
        # In constant time: the duration of `==` would reveal how much of a forged signature is right.
        if not any(compare_digest(_sign(key, payload), signature) for key in self._keys):
            raise BrokenSeal("signature does not match")
        return payload


class AesGcmSealer:
    """Encrypts with AES-GCM under the first key and opens with any of them.

    Keys have 16, 24 or 32 bytes. Nonces are random, so one key should seal at most 2**32 times
    (NIST SP 800-38D, 8.3).
    """

    def __init__(self, keys: Sequence[bytes], random_bytes: RandomBytes) -> None:
        try:
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError:
            raise MissingExtra('encryption needs cryptography: pip install "assay-mcp[auth]"') from None
        if not keys:
            raise ValueError("give at least one sealing key")
        self._ciphers = [AESGCM(key) for key in keys]
        self._random_bytes = random_bytes
        self._invalid = InvalidTag

    def seal(self, payload: bytes) -> str:
        nonce = self._random_bytes(NONCE_BYTES)
        return _text(nonce + self._ciphers[0].encrypt(nonce, payload, None))

    def open(self, sealed: str) -> bytes:
        data = _bytes(sealed)
        if len(data) < NONCE_BYTES + TAG_BYTES:
            raise BrokenSeal("not in sealed form")
        for cipher in self._ciphers:
            try:
                return cipher.decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], None)
            except self._invalid:
                continue
        raise BrokenSeal("no key opens it")


def _sign(key: bytes, payload: bytes) -> bytes:
    # Imported when a request is first answered with questions: most servers ask none.
    import hmac

    return hmac.digest(key, payload, "sha256")


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    try:
        data = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        raise BrokenSeal("not in sealed form") from None
    # The decoder skips characters outside the alphabet. Accept only the spelling that we write, so that each
    # payload has one sealed form.
    if _text(data) != text:
        raise BrokenSeal("not in sealed form")
    return data
