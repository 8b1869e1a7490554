"""in-toto Statements, version 1: a claim (the predicate) about artifacts (the subjects).

Decoding is strict: canonical JSON, no unknown fields, bounded sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from assay.signing import canonical

TYPE: Final = "https://in-toto.io/Statement/v1"
MAX_SUBJECTS: Final = 10_000

Sha256 = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Name = Annotated[str, Meta(min_length=1, max_length=1024)]
Uri = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9+.-]*:\S+\Z", max_length=1024)]


class BadStatement(ValueError):
    """The statement is invalid; the message gives the cause."""


class Digest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sha256: Sha256


class Subject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Name
    digest: Digest


class Statement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    type: Literal["https://in-toto.io/Statement/v1"] = msgspec.field(name="_type")
    subject: Annotated[tuple[Subject, ...], Meta(min_length=1, max_length=MAX_SUBJECTS)]
    predicate_type: Uri
    predicate: dict[str, Any]


def statement(subjects: Mapping[str, str], predicate_type: str, predicate: dict[str, Any]) -> Statement:
    """Claim `predicate` of the subjects, given as names with their SHA-256 in hexadecimal digits."""
    named = tuple(Subject(name, Digest(sha256)) for name, sha256 in sorted(subjects.items()))
    return Statement(TYPE, named, predicate_type, predicate)


def encode(claim: Statement) -> bytes:
    """
    Raises:
        BadStatement: the predicate cannot be represented in JSON without loss.
    """
    try:
        data = canonical.encode(as_document(claim))
    except (canonical.NotCanonical, TypeError) as error:
        raise BadStatement(f"not a statement: {error}") from error
    if read(data).predicate != claim.predicate:
        raise BadStatement("a predicate may contain only values that JSON can represent")
    return data


def as_document(claim: Statement) -> dict[str, Any]:
    """The statement as JSON values. msgspec would convert values that JSON lacks (NaN to null, dates to
    strings), so it must not encode the predicate."""
    return {**msgspec.to_builtins(claim), "predicate": claim.predicate}


def read(data: bytes) -> Statement:
    """
    Raises:
        BadStatement: the data is not a valid statement in canonical form.
    """
    try:
        claim = msgspec.convert(canonical.decode(data), Statement)
    except (canonical.NotCanonical, msgspec.ValidationError) as error:
        raise BadStatement(f"not a statement: {error}") from error
    names = [subject.name for subject in claim.subject]
    if len(set(names)) != len(names):
        raise BadStatement("two subjects have the same name")
    return claim
