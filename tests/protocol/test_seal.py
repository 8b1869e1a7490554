"""Sealed text comes back as it went, or not at all."""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.protocol.seal import BrokenSeal, HmacSealer, Sealer

KEY, OTHER = b"k" * 16, b"o" * 32
SEALER = HmacSealer([KEY])


class NonceSealer:
    """Another implementation of the port: it signs a nonce too, so equal payloads look different."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._nonces = count(1)

    def seal(self, payload: bytes) -> str:
        data = next(self._nonces).to_bytes(12) + payload
        return urlsafe_b64encode(hmac.digest(self._key, data, hashlib.sha256) + data).decode()

    def open(self, sealed: str) -> bytes:
        try:
            decoded = urlsafe_b64decode(sealed.encode("ascii"))
        except ValueError:
            raise BrokenSeal("not in sealed form") from None
        signature, data = decoded[:32], decoded[32:]
        if not hmac.compare_digest(hmac.digest(self._key, data, hashlib.sha256), signature):
            raise BrokenSeal("signature does not match")
        return data[12:]


@pytest.mark.parametrize("sealer", [SEALER, NonceSealer(KEY)], ids=["hmac", "nonce"])
@given(payload=st.binary(max_size=200))
def test_what_was_sealed_is_opened(sealer: Sealer, payload: bytes) -> None:
    assert sealer.open(sealer.seal(payload)) == payload


def test_sealed_text_can_stand_anywhere() -> None:
    """It travels in JSON, in logs and in URLs: letters, digits and `-_.` are safe in all of them."""
    sealed = SEALER.seal(bytes(range(256)))
    assert sealed.isascii()
    assert sealed.replace("-", "").replace("_", "").replace(".", "").isalnum()


@given(payload=st.binary(max_size=60), position=st.integers(0, 10_000), bit=st.integers(0, 6))
def test_one_changed_bit_breaks_the_seal(payload: bytes, position: int, bit: int) -> None:
    sealed = SEALER.seal(payload)
    place = position % len(sealed)
    changed = sealed[:place] + chr(ord(sealed[place]) ^ (1 << bit)) + sealed[place + 1 :]
    with pytest.raises(BrokenSeal):
        SEALER.open(changed)


@given(payload=st.binary(max_size=60), data=st.data())
def test_a_part_is_not_the_whole(payload: bytes, data: st.DataObject) -> None:
    sealed = SEALER.seal(payload)
    end = data.draw(st.integers(0, len(sealed) - 1))
    with pytest.raises(BrokenSeal):
        SEALER.open(sealed[:end])


@given(text=st.text(max_size=80))
def test_arbitrary_text_is_refused(text: str) -> None:
    with pytest.raises(BrokenSeal):
        SEALER.open(text)


@pytest.mark.parametrize("change", [" {}", "{} ", "{}=", "\n{}", "{}.", "{}.x", ".{}", "{}\x00", "{}é"])
def test_only_the_spelling_that_was_written_is_read(change: str) -> None:
    """Base64 decoders skip what they do not know: then many texts would open to the same payload."""
    with pytest.raises(BrokenSeal):
        SEALER.open(change.format(SEALER.seal(b"payload")))


def test_signature_and_payload_of_different_seals_do_not_mix() -> None:
    body, _, _ = SEALER.seal(b"mine").partition(".")
    _, _, signature = SEALER.seal(b"yours").partition(".")
    with pytest.raises(BrokenSeal):
        SEALER.open(f"{body}.{signature}")


def test_another_key_opens_nothing() -> None:
    with pytest.raises(BrokenSeal):
        HmacSealer([OTHER]).open(SEALER.seal(b"payload"))


def test_keys_are_rotated_by_putting_the_new_one_first() -> None:
    rotated = HmacSealer([OTHER, KEY])
    assert rotated.open(SEALER.seal(b"from before")) == b"from before"
    assert HmacSealer([OTHER]).open(rotated.seal(b"from now on")) == b"from now on"
    with pytest.raises(BrokenSeal):
        SEALER.open(rotated.seal(b"from now on"))


@pytest.mark.parametrize("keys", [[], [b""], [b"k" * 15], [KEY, b"short"]])
def test_keys_that_are_too_short_are_refused(keys: list[bytes]) -> None:
    with pytest.raises(ValueError, match="at least 16 bytes"):
        HmacSealer(keys)
