"""Envelopes: verification returns what was signed, and every refusal has a reason."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from securesystemslib.dsse import Envelope
from securesystemslib.signer._crypto_signer import CryptoSigner
from securesystemslib.signer._key import SSlibKey

from assay.signing import canonical
from assay.signing.dsse import InvalidEnvelope, Reason, Role, Trust, pre_authentication, sign, verify
from assay.signing.keys import PublicKey, SigningKey, generate

KEY = generate()
OTHER = generate()
TRUST = Trust([(KEY.public, Role.DEVELOPER), (OTHER.public, Role.HARNESS)])
TYPE = "application/x.test"
ENVELOPE = sign(b'{"a":1}', KEY, TYPE)


def refusal(data: bytes, trust: Trust = TRUST, role: Role = Role.DEVELOPER) -> Reason:
    with pytest.raises(InvalidEnvelope) as refused:
        verify(data, trust, role, TYPE)
    return refused.value.reason


def edited(**members: Any) -> bytes:
    return canonical.encode({**json.loads(ENVELOPE), **members})


def signature(data: bytes = ENVELOPE) -> dict[str, str]:
    entry: dict[str, str] = json.loads(data)["signatures"][0]
    return entry


def test_the_bytes_that_are_signed_are_those_of_the_specification() -> None:
    example = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert pre_authentication("http://example.com/HelloWorld", b"hello world") == example


@given(st.binary(max_size=200), st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_what_was_signed_is_what_is_read(payload: bytes, kind: str) -> None:
    signed = verify(sign(payload, KEY, kind), TRUST, Role.DEVELOPER, kind)
    assert (signed.payload, signed.key_id, signed.roles) == (
        payload,
        KEY.public.id,
        frozenset({Role.DEVELOPER}),
    )


@given(st.integers(0, len(ENVELOPE) - 1), st.integers(1, 255))
def test_no_byte_can_change(position: int, flip: int) -> None:
    changed = bytearray(ENVELOPE)
    changed[position] ^= flip
    assert refusal(bytes(changed))


@given(st.integers(0, len(ENVELOPE)), st.binary(min_size=1, max_size=4))
def test_no_byte_can_be_added_or_cut(position: int, more: bytes) -> None:
    assert refusal(ENVELOPE[:position] + more + ENVELOPE[position:])
    if position < len(ENVELOPE):
        assert refusal(ENVELOPE[:position]) is Reason.MALFORMED


def test_a_changed_payload() -> None:
    assert refusal(edited(payload=base64.b64encode(b'{"a":2}').decode())) is Reason.BAD_SIGNATURE


def test_a_changed_type() -> None:
    assert refusal(edited(payloadType="application/x.other")) is Reason.WRONG_TYPE


def test_a_payload_that_was_signed_as_another_type() -> None:
    relabelled = json.loads(sign(b'{"a":1}', KEY, "application/x.other"))
    assert refusal(canonical.encode({**relabelled, "payloadType": TYPE})) is Reason.BAD_SIGNATURE


def test_a_key_that_is_not_pinned() -> None:
    assert refusal(sign(b"{}", generate(), TYPE)) is Reason.UNKNOWN_KEY


def test_a_stranger_who_claims_a_pinned_key() -> None:
    forged = {**signature(sign(b'{"a":1}', generate(), TYPE)), "keyid": KEY.public.id}
    assert refusal(edited(signatures=[forged])) is Reason.BAD_SIGNATURE


def test_a_key_that_is_pinned_for_another_role() -> None:
    assert refusal(sign(b"{}", OTHER, TYPE)) is Reason.WRONG_ROLE
    assert verify(sign(b"{}", OTHER, TYPE), TRUST, Role.HARNESS, TYPE).payload == b"{}"


def test_a_key_may_be_pinned_for_both_roles_which_shows() -> None:
    both = Trust([(KEY.public, role) for role in Role])
    assert verify(ENVELOPE, both, Role.HARNESS, TYPE).roles == set(Role)


def test_no_signature() -> None:
    assert refusal(edited(signatures=[])) is Reason.UNSIGNED


@pytest.mark.parametrize("second", [signature(), signature(sign(b'{"a":1}', OTHER, TYPE))])
def test_several_signatures(second: dict[str, str]) -> None:
    assert refusal(edited(signatures=[signature(), second])) is Reason.SEVERAL_SIGNATURES


def test_no_pinned_key_is_never_trust() -> None:
    assert refusal(ENVELOPE, Trust()) is Reason.NO_PINNED_KEY


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        edited(publicKey="mine"),
        edited(payload="e30"),
        edited(payload="e30=\n"),
        edited(payload="e31="),
        edited(payload="é"),
        edited(payload=7),
        edited(signatures=[{**signature(), "cert": "x"}]),
        edited(signatures=[{**signature(), "sig": "?"}]),
        json.dumps(json.loads(ENVELOPE)).encode(),
    ],
)
def test_what_is_no_envelope(data: bytes) -> None:
    assert refusal(data) is Reason.MALFORMED


def as_theirs(key: PublicKey) -> SSlibKey:
    value = {"public": key.raw.hex()}
    return SSlibKey(key.id, "ed25519", "ed25519", value)


def test_another_implementation_accepts_what_we_sign() -> None:
    envelope = Envelope.from_dict(json.loads(ENVELOPE))
    assert list(envelope.verify([as_theirs(KEY.public)], 1)) == [KEY.public.id]


def test_we_accept_what_another_implementation_signs() -> None:
    signer = CryptoSigner.generate_ed25519()
    envelope = Envelope(b"theirs", TYPE, {})
    envelope.sign(signer)
    key = PublicKey(bytes.fromhex(signer.public_key.keyval["public"]))
    theirs = envelope.to_dict()
    theirs["signatures"][0]["keyid"] = key.id
    trust = Trust([(key, Role.HARNESS)])
    assert verify(canonical.encode(theirs), trust, Role.HARNESS, TYPE).payload == b"theirs"


def test_one_key_signs_the_same_bytes_each_time() -> None:
    assert sign(b'{"a":1}', SigningKey(KEY.key), TYPE) == ENVELOPE
