"""DSSE envelopes: a payload, its type, and one Ed25519 signature over both.

Envelopes have one form, and no other is accepted, so that no byte can change unnoticed. Each holds exactly
one
signature: anyone could add a second one, which nothing would cover. `verify` returns the payload only after
checking its signature with a key that the verifier pinned.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec

from . import canonical
from .keys import PublicKey, SigningKey

IN_TOTO: Final = "application/vnd.in-toto+json"


class Role(StrEnum):
    """What a key is trusted for."""

    DEVELOPER = "developer"
    HARNESS = "harness"


class Reason(StrEnum):
    """Why an envelope is refused: the first that applies, in this order."""

    NO_PINNED_KEY = "no-pinned-key"
    MALFORMED = "malformed"
    WRONG_TYPE = "wrong-type"
    UNSIGNED = "unsigned"
    SEVERAL_SIGNATURES = "several-signatures"
    UNKNOWN_KEY = "unknown-key"
    WRONG_ROLE = "wrong-role"
    BAD_SIGNATURE = "bad-signature"


class InvalidEnvelope(ValueError):
    """An envelope does not prove what it should; `reason` is for programs."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        return self.detail


class Trust:
    """The keys that a verifier pinned, each for one or more roles."""

    def __init__(self, pins: Iterable[tuple[PublicKey, Role]] = ()) -> None:
        self.keys: dict[str, PublicKey] = {}
        self.roles: dict[str, frozenset[Role]] = {}
        for key, role in pins:
            self.keys[key.id] = key
            self.roles[key.id] = self.roles.get(key.id, frozenset()) | {role}


@dataclass(frozen=True)
class VerifiedPayload:
    """A verified payload, and the key that signed it."""

    payload: bytes
    key_id: str
    roles: frozenset[Role]


class _Signature(msgspec.Struct, forbid_unknown_fields=True):
    keyid: str
    sig: str


class _Envelope(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    payload: str
    payload_type: str
    signatures: list[_Signature]


def pre_authentication(payload_type: str, payload: bytes) -> bytes:
    """The signed bytes (PAE of DSSE). The lengths make them unambiguous: no other type and payload yield
    them."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def sign(payload: bytes, key: SigningKey, payload_type: str = IN_TOTO) -> bytes:
    signature = key.sign(pre_authentication(payload_type, payload))
    envelope = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": payload_type,
        "signatures": [{"keyid": key.public.id, "sig": base64.b64encode(signature).decode()}],
    }
    return canonical.encode(envelope)


def verify(data: bytes, trust: Trust, role: Role, payload_type: str = IN_TOTO) -> VerifiedPayload:
    """
    Raises:
        InvalidEnvelope: This is not an envelope of that type, signed with a key that is pinned for that role.
    """
    if not trust.keys:
        raise InvalidEnvelope(Reason.NO_PINNED_KEY, "no key is pinned: name one that you trust")
    envelope = _read(data)
    payload = _decode64(envelope.payload)
    if envelope.payload_type != payload_type:
        detail = f"the envelope holds {envelope.payload_type!r}, not {payload_type!r}"
        raise InvalidEnvelope(Reason.WRONG_TYPE, detail)
    signature = _only(envelope.signatures)
    key = _pinned(signature.keyid, trust.keys)
    if role not in trust.roles[key.id]:
        raise InvalidEnvelope(Reason.WRONG_ROLE, f"signed with {key.id}, which is not pinned as {role}")
    if not key.has_signed(pre_authentication(payload_type, payload), _decode64(signature.sig)):
        raise InvalidEnvelope(Reason.BAD_SIGNATURE, f"the signature of {key.id} does not match the payload")
    return VerifiedPayload(payload, key.id, trust.roles[key.id])


def _read(data: bytes) -> _Envelope:
    try:
        return msgspec.convert(canonical.decode(data), _Envelope)
    except (canonical.NotCanonical, msgspec.ValidationError) as error:
        raise InvalidEnvelope(Reason.MALFORMED, f"not an envelope: {error}") from error


def _decode64(text: str) -> bytes:
    """Decode base64 in its canonical spelling: other values of the unused bits at the end are refused."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidEnvelope(Reason.MALFORMED, f"not an envelope: {error}") from error
    if base64.b64encode(data).decode() != text:
        raise InvalidEnvelope(Reason.MALFORMED, "not an envelope: base64 with unused bits set")
    return data


def _only(signatures: list[_Signature]) -> _Signature:
    if not signatures:
        raise InvalidEnvelope(Reason.UNSIGNED, "the envelope is not signed")
    if len(signatures) > 1:
        raise InvalidEnvelope(Reason.SEVERAL_SIGNATURES, f"{len(signatures)} signatures instead of one")
    return signatures[0]


def _pinned(key_id: str, keys: Mapping[str, PublicKey]) -> PublicKey:
    if key_id not in keys:
        raise InvalidEnvelope(Reason.UNKNOWN_KEY, f"signed with {key_id!r}, which is not pinned")
    return keys[key_id]
