"""DSSE envelopes: a payload, its type, and one Ed25519 signature over both.

Envelopes are written in one form, and only that form is read, so that no byte of one can change unnoticed.
Each holds exactly one signature: a second one could be added by anybody, and would be covered by nothing.
The payload is handed out only once its signature has been verified, by a key that the verifier has pinned.
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
    """Why an envelope is refused; the first that applies, in this order."""

    NO_PINNED_KEY = "no-pinned-key"
    MALFORMED = "malformed"
    WRONG_TYPE = "wrong-type"
    UNSIGNED = "unsigned"
    SEVERAL_SIGNATURES = "several-signatures"
    UNKNOWN_KEY = "unknown-key"
    WRONG_ROLE = "wrong-role"
    BAD_SIGNATURE = "bad-signature"


class Refused(ValueError):
    """An envelope does not prove what it should; `reason` says why, for programs."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        return self.detail


class Trust:
    """The keys that a verifier has pinned, each for one role or several."""

    def __init__(self, pins: Iterable[tuple[PublicKey, Role]] = ()) -> None:
        self.keys: dict[str, PublicKey] = {}
        self.roles: dict[str, frozenset[Role]] = {}
        for key, role in pins:
            self.keys[key.id] = key
            self.roles[key.id] = self.roles.get(key.id, frozenset()) | {role}


@dataclass(frozen=True)
class Signed:
    """A payload that has been verified, and who signed it."""

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
    """The bytes that are signed (PAE): lengths make sure that no two pairs give the same ones."""
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


def verify(data: bytes, trust: Trust, role: Role, payload_type: str = IN_TOTO) -> Signed:
    """
    Raises:
        Refused: this is no envelope of that type, signed by a key that is pinned for that role.
    """
    if not trust.keys:
        raise Refused(Reason.NO_PINNED_KEY, "no key is pinned: name the one that you trust")
    envelope = _read(data)
    payload = _plain(envelope.payload)
    if envelope.payload_type != payload_type:
        detail = f"the envelope holds {envelope.payload_type!r}, not {payload_type!r}"
        raise Refused(Reason.WRONG_TYPE, detail)
    signature = _only(envelope.signatures)
    key = _pinned(signature.keyid, trust.keys)
    if role not in trust.roles[key.id]:
        raise Refused(Reason.WRONG_ROLE, f"signed by {key.id}, which is not pinned as {role}")
    if not key.has_signed(pre_authentication(payload_type, payload), _plain(signature.sig)):
        raise Refused(Reason.BAD_SIGNATURE, f"the signature is not that of {key.id} over this payload")
    return Signed(payload, key.id, trust.roles[key.id])


def _read(data: bytes) -> _Envelope:
    try:
        return msgspec.convert(canonical.decode(data), _Envelope)
    except (canonical.NotCanonical, msgspec.ValidationError) as error:
        raise Refused(Reason.MALFORMED, f"no envelope: {error}") from error


def _plain(text: str) -> bytes:
    """Decode base64 in its one standard spelling: loose bits at the end are refused as well."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refused(Reason.MALFORMED, f"no envelope: {error}") from error
    if base64.b64encode(data).decode() != text:
        raise Refused(Reason.MALFORMED, "no envelope: base64 with loose bits at its end")
    return data


def _only(signatures: list[_Signature]) -> _Signature:
    if not signatures:
        raise Refused(Reason.UNSIGNED, "the envelope is not signed")
    if len(signatures) > 1:
        raise Refused(Reason.SEVERAL_SIGNATURES, f"{len(signatures)} signatures where one is expected")
    return signatures[0]


def _pinned(key_id: str, keys: Mapping[str, PublicKey]) -> PublicKey:
    if key_id not in keys:
        raise Refused(Reason.UNKNOWN_KEY, f"signed by {key_id!r}, which is not among the pinned keys")
    return keys[key_id]
