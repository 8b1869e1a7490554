"""SPDX 2.2 and 2.3 documents in JSON: what a valid one has."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

import jsonschema_rs

_ID: Final = {"type": "string", "pattern": r"^(DocumentRef-[A-Za-z0-9.+-]+:)?SPDXRef-[A-Za-z0-9.-]+$"}
_TEXT: Final = {"type": "string", "minLength": 1}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": [
        *("spdxVersion", "SPDXID", "dataLicense", "name", "documentNamespace", "creationInfo", "packages"),
    ],
    "properties": {
        "spdxVersion": {"enum": ["SPDX-2.2", "SPDX-2.3"]},
        "SPDXID": {"const": "SPDXRef-DOCUMENT"},
        "dataLicense": {"const": "CC0-1.0"},
        "name": _TEXT,
        "documentNamespace": {"type": "string", "pattern": r"^[A-Za-z][A-Za-z0-9+.-]*:[^#]+$"},
        "creationInfo": {
            "type": "object",
            "required": ["created", "creators"],
            "properties": {
                "created": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
                "creators": {
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": "string", "pattern": r"^(Person|Organization|Tool): ?.+"},
                },
            },
        },
        "packages": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["SPDXID", "name", "downloadLocation"],
                "properties": {
                    "SPDXID": _ID,
                    "name": _TEXT,
                    "versionInfo": {"type": "string"},
                    "downloadLocation": _TEXT,
                    "licenseConcluded": {"type": "string"},
                    "licenseDeclared": {"type": "string"},
                    "checksums": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["algorithm", "checksumValue"],
                            "properties": {
                                "algorithm": _TEXT,
                                "checksumValue": {"type": "string", "pattern": "^[0-9a-f]+$"},
                            },
                        },
                    },
                    "externalRefs": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["referenceCategory", "referenceType", "referenceLocator"],
                            "properties": {"referenceType": _TEXT, "referenceLocator": _TEXT},
                        },
                    },
                },
            },
        },
        "relationships": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["spdxElementId", "relatedSpdxElement", "relationshipType"],
                "properties": {"spdxElementId": _ID, "relationshipType": _TEXT},
            },
        },
        "documentDescribes": {"type": "array", "items": {"type": "string"}},
    },
}
"""The fields that the specification calls mandatory, and the form of those that are read here."""


class BadSpdx(ValueError):
    """Not a valid SPDX document; the message says where."""


def validate(data: bytes) -> None:
    """
    Raises:
        BadSpdx: the document does not have the mandatory fields, or ids in it are not unique.
    """
    try:
        document = json.loads(data.decode())
        fault = next(_validator().iter_errors(document), None)
    except (ValueError, RecursionError) as error:
        raise BadSpdx(f"not an SBOM: {error}") from error
    if fault is not None:
        path = "/".join(map(str, fault.instance_path))
        raise BadSpdx(f"not an SPDX document: /{path}: {fault.message[:200]}")
    ids = [package["SPDXID"] for package in document["packages"]]
    if len(set(ids)) != len(ids):
        raise BadSpdx("not an SPDX document: two packages have the same SPDXID")


@cache
def _validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(SCHEMA)
