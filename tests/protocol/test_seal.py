"""Sealed text opens to the payload, or not at all."""

from __future__ import annotations

import os
import sys
from base64 import urlsafe_b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.error import MissingExtra
from assay.protocol.seal import AesGcmSealer, BrokenSeal, HmacSealer, Sealer

KEY, OTHER = b"k" * 16, b"o" * 32
SEALER = HmacSealer([KEY])
ENCRYPTING = AesGcmSealer([OTHER], os.urandom)
both = pytest.mark.parametrize("sealer", [SEALER, ENCRYPTING], ids=["hmac", "aes-gcm"])


@both
@given(payload=st.binary(max_size=200))
def test_sealed_payload_is_opened(sealer: Sealer, payload: bytes) -> None:
    assert sealer.open(sealer.seal(payload)) == payload


def test_sealed_text_needs_no_escaping() -> None:
    """Letters, digits and `-_.` are safe in JSON, logs and URLs."""
    sealed = SEALER.seal(bytes(range(256)))
    assert sealed.isascii()
    assert sealed.replace("-", "").replace("_", "").replace(".", "").isalnum()


@both
@given(payload=st.binary(max_size=60), position=st.integers(0, 10_000), bit=st.integers(0, 6))
def test_one_changed_bit_breaks_the_seal(sealer: Sealer, payload: bytes, position: int, bit: int) -> None:
    sealed = sealer.seal(payload)
    place = position % len(sealed)
    changed = sealed[:place] + chr(ord(sealed[place]) ^ (1 << bit)) + sealed[place + 1 :]
    with pytest.raises(BrokenSeal):
        sealer.open(changed)


@both
@given(payload=st.binary(max_size=60), data=st.data())
def test_truncated_text_is_refused(sealer: Sealer, payload: bytes, data: st.DataObject) -> None:
    sealed = sealer.seal(payload)
    end = data.draw(st.integers(0, len(sealed) - 1))
    with pytest.raises(BrokenSeal):
        sealer.open(sealed[:end])


@both
@given(text=st.text(max_size=80))
def test_arbitrary_text_is_refused(sealer: Sealer, text: str) -> None:
    with pytest.raises(BrokenSeal):
        sealer.open(text)


def test_encrypted_text_reveals_nothing_and_never_repeats() -> None:
    payload = b"the answer is forty-two" * 4
    first, second = ENCRYPTING.seal(payload), ENCRYPTING.seal(payload)
    assert first != second
    assert b"forty" not in urlsafe_b64decode(first + "==")


def test_nonces_come_from_the_given_source() -> None:
    """The core has no randomness itself, so the same source gives the same text."""
    first, second = (AesGcmSealer([KEY], lambda size: b"\7" * size).seal(b"payload") for _ in range(2))
    assert first == second
    assert urlsafe_b64decode(first + "==").startswith(b"\7" * 12)


def test_a_rotated_key_opens_and_another_does_not() -> None:
    sealed = ENCRYPTING.seal(b"payload")
    assert AesGcmSealer([KEY, OTHER], os.urandom).open(sealed) == b"payload"
    with pytest.raises(BrokenSeal, match="no key"):
        AesGcmSealer([KEY], os.urandom).open(sealed)


@pytest.mark.parametrize("keys", [[], [b"short"]])
def test_unusable_keys_are_refused(keys: list[bytes]) -> None:
    with pytest.raises(ValueError, match="key"):
        AesGcmSealer(keys, os.urandom)


def test_encryption_without_its_extra_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(MissingExtra, match="pip install"):
        AesGcmSealer([KEY], os.urandom)


@pytest.mark.parametrize("change", [" {}", "{} ", "{}=", "\n{}", "{}.", "{}.x", ".{}", "{}\x00", "{}é"])
def test_only_the_canonical_spelling_is_accepted(change: str) -> None:
    """Base64 decoders skip unknown characters: many texts would open to the same payload."""
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
