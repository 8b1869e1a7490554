"""Sealers for a server: the keys that are given, or a random one."""

from __future__ import annotations

from collections.abc import Sequence
from os import urandom
from typing import cast

from assay.model.error import RegistrationError
from assay.protocol.seal import AesGcmSealer, HmacSealer, Sealer


class EncryptingSealer(AesGcmSealer):
    """Encrypts what clients carry, with AES-GCM under the first key, and opens with any of the keys.

    Keys have 16, 24 or 32 bytes. Nonces are random, so one key should seal at most 2**32 times.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        super().__init__(keys, urandom)


class RandomKeySealer(HmacSealer):
    """Signs with a key of this process, until it is given the one that several workers share."""

    def __init__(self) -> None:
        super().__init__([urandom(32)])

    def share(self, key: bytes) -> None:
        """Use this key. Call it before the first request."""
        super().__init__([key])


def make_sealer(sealing: Sealer | bytes | Sequence[bytes] | None) -> Sealer:
    """The sealer itself, or one that signs with these keys. Without any, the key is random: then only this
    process, or the workers of one parent, can open its seals."""
    if sealing is None:
        return RandomKeySealer()
    if isinstance(sealing, bytes):
        return HmacSealer([sealing])
    if isinstance(sealing, list | tuple) and all(isinstance(key, bytes) for key in sealing):
        return HmacSealer(sealing)
    if not (hasattr(sealing, "seal") and hasattr(sealing, "open")):
        raise RegistrationError(
            "sealing takes bytes, a list of them, or a sealer: write sealing=[key.encode()]"
        )
    return cast(Sealer, sealing)
