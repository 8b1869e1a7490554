"""in-toto Statements, version 1: what is claimed (the predicate) of which artifacts (the subjects).

They are read strictly: only what is documented here, in its one form, within bounds.
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
    """This is no statement that we would make; the text says why."""


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
    """Claim `predicate` of artifacts, given as names with their SHA-256 in hexadecimal digits."""
    named = tuple(Subject(name, Digest(sha256)) for name, sha256 in sorted(subjects.items()))
    return Statement(TYPE, named, predicate_type, predicate)


def encode(claimed: Statement) -> bytes:
    """
    Raises:
        BadStatement: it could not be read again as it was meant.
    """
    try:
        # Msgspec writes more than JSON has (a NaN as null, a date as text): the predicate goes past it.
        data = canonical.encode({**msgspec.to_builtins(claimed), "predicate": claimed.predicate})
    except (canonical.NotCanonical, TypeError) as error:
        raise BadStatement(f"no statement: {error}") from error
    if read(data).predicate != claimed.predicate:
        raise BadStatement(
            "a predicate holds objects with text as keys, lists, text, numbers, true, false, null"
        )
    return data


def read(data: bytes) -> Statement:
    """
    Raises:
        BadStatement: these bytes are none, or in another form.
    """
    try:
        claimed = msgspec.convert(canonical.decode(data), Statement)
    except (canonical.NotCanonical, msgspec.ValidationError) as error:
        raise BadStatement(f"no statement: {error}") from error
    names = [one.name for one in claimed.subject]
    if len(set(names)) != len(names):
        raise BadStatement("two subjects have one name")
    return claimed
