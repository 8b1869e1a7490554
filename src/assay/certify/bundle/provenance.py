"""Provenance attestations of a build: in-toto statements with a SLSA predicate, about the artifact.

A file holds one envelope, or one in each line: DSSE as it is, or in a Sigstore bundle. Builders sign it with
keys of their own: the bundle names them, and whoever relies on a builder checks that signature.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from assay.signing.dsse import IN_TOTO

from .bundle_manifest import Artifact

LARGEST: Final = 8 * 1024 * 1024
MAX_ENVELOPES: Final = 64
STATEMENTS: Final = ("https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v0.1")
PREDICATE: Final = "https://slsa.dev/provenance/"


class BadProvenance(ValueError):
    """Not an attestation; the message gives the cause."""


class Provenance(Struct, frozen=True):
    predicate_type: str
    subjects: dict[str, str]
    """SHA-256 in hexadecimal digits, by name."""
    builder: str
    key_ids: tuple[str, ...]

    def is_about(self, artifact: Artifact) -> bool:
        return artifact.sha256 in self.subjects.values()


def read(data: bytes) -> list[Provenance]:
    """
    Raises:
        BadProvenance: an envelope is invalid, not signed, or does not hold a statement about provenance.
    """
    if len(data) > LARGEST:
        raise BadProvenance(f"not an attestation: {len(data)} bytes exceed the limit of {LARGEST}")
    try:
        attestations = [_provenance(envelope) for envelope in _envelopes(data)]
    except (KeyError, TypeError, AttributeError, RecursionError, binascii.Error) as error:
        raise BadProvenance(f"not an attestation: {error!r}") from error
    if not attestations:
        raise BadProvenance("not an attestation: the file is empty")
    return attestations


def _envelopes(data: bytes) -> Iterator[Mapping[str, Any]]:
    try:
        documents = [json.loads(data)]
    except ValueError:
        documents = [_line(line) for line in data.splitlines() if line.strip()]
    if len(documents) > MAX_ENVELOPES:
        raise BadProvenance(f"more than {MAX_ENVELOPES} attestations in one file")
    for document in documents:
        yield document.get("dsseEnvelope", document)


def _line(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise BadProvenance(f"not an attestation: {error}") from error


def _provenance(envelope: Mapping[str, Any]) -> Provenance:
    if envelope["payloadType"] != IN_TOTO:
        raise BadProvenance(f"the envelope holds {envelope['payloadType']!r}, not an in-toto statement")
    if not envelope["signatures"]:
        raise BadProvenance("the attestation is not signed")
    try:
        statement = json.loads(base64.b64decode(envelope["payload"]))
    except ValueError as error:
        raise BadProvenance(f"not an attestation: {error}") from error
    if statement["_type"] not in STATEMENTS:
        raise BadProvenance(f"{statement['_type']!r} is not an in-toto statement")
    if not str(statement["predicateType"]).startswith(PREDICATE):
        raise BadProvenance(f"{statement['predicateType']!r} is not SLSA provenance")
    subjects = {
        str(subject.get("name")): str(subject["digest"]["sha256"])
        for subject in statement["subject"]
        if "sha256" in subject["digest"]
    }
    key_ids = tuple(str(signature.get("keyid") or "") for signature in envelope["signatures"])
    return Provenance(str(statement["predicateType"]), subjects, _builder(statement["predicate"]), key_ids)


def _builder(predicate: Mapping[str, Any]) -> str:
    """Version 1 has it below `runDetails`."""
    builder = predicate.get("runDetails", predicate).get("builder", {})
    return str(builder.get("id", "")) if isinstance(builder, dict) else ""
