"""The packages that an SBOM lists, in CycloneDX or SPDX, and the format of one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct
from packageurl import PackageURL
from packaging.utils import canonicalize_name

Key = tuple[str, str, str]
"""The type of a package URL, the name in its usual spelling, and the version."""
_UNKNOWN: Final = (None, "", "NOASSERTION", "NONE")


class SbomFormat(StrEnum):
    CYCLONEDX = "CycloneDX"
    SPDX = "SPDX"


class ListedPackage(Struct, frozen=True):
    name: str
    version: str
    purl: str
    has_digest: bool
    has_licence: bool
    is_platform: bool = False
    """The interpreter, not a package."""

    @property
    def key(self) -> Key | None:
        """None without a package URL that has a version."""
        return key_of(self.purl)


def key_of(purl: str) -> Key | None:
    try:
        url = PackageURL.from_string(purl)
    except ValueError:
        return None
    if not url.version:
        return None
    name = f"{url.namespace}/{url.name}" if url.namespace else url.name
    return url.type, canonicalize_name(name) if url.type == "pypi" else name, url.version


def format_of(data: bytes) -> SbomFormat | None:
    """The format that a document claims; None if it is neither."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    if document.get("bomFormat") == SbomFormat.CYCLONEDX:
        return SbomFormat.CYCLONEDX
    return SbomFormat.SPDX if str(document.get("spdxVersion", "")).startswith("SPDX-2.") else None


def listed_packages(data: bytes) -> list[ListedPackage]:
    """The packages in a valid SBOM, including nested ones."""
    document = json.loads(data)
    return list(_of_spdx(document) if "spdxVersion" in document else _of_cyclonedx(document))


def _of_cyclonedx(document: Mapping[str, Any]) -> Iterator[ListedPackage]:
    pending: list[dict[str, Any]] = list(document.get("components", ()))
    while pending:
        component = pending.pop()
        pending += component.get("components", ())
        yield ListedPackage(
            component["name"],
            component.get("version", ""),
            component.get("purl", ""),
            bool(component.get("hashes")),
            bool(component.get("licenses")),
            component["type"] == "platform",
        )


def _of_spdx(document: Mapping[str, Any]) -> Iterator[ListedPackage]:
    described = {
        relation.get("relatedSpdxElement")
        for relation in document.get("relationships", ())
        if relation.get("relationshipType") == "DESCRIBES"
    } | set(document.get("documentDescribes", ()))
    for package in document["packages"]:
        purls = [
            reference["referenceLocator"]
            for reference in package.get("externalRefs", ())
            if reference.get("referenceType") == "purl"
        ]
        # The element that the document describes is the server itself, or its directory.
        if package["SPDXID"] in described and not purls:
            continue
        licences = (package.get("licenseConcluded"), package.get("licenseDeclared"))
        yield ListedPackage(
            package["name"],
            package.get("versionInfo", ""),
            purls[0] if purls else "",
            bool(package.get("checksums")),
            any(licence not in _UNKNOWN for licence in licences),
        )


def keys_of(packages: Iterable[ListedPackage], kinds: Iterable[str]) -> set[Key]:
    """The packages of these ecosystems."""
    wanted = set(kinds)
    return {package.key for package in packages if package.key is not None and package.key[0] in wanted}
