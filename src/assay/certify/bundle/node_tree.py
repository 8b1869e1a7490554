"""The packages of a Node server: `package-lock.json`, and what is installed beside it."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

LOCK: Final = "package-lock.json"
MODULES: Final = "node_modules/"
MAX_BYTES: Final = 64 * 1024 * 1024
MAX_PACKAGES: Final = 50_000
VERSIONS: Final = (2, 3)
"""Of the lock file: since npm 7. Version 1 lists no paths."""
ALGORITHMS: Final = {"sha1": "SHA-1", "sha256": "SHA-256", "sha384": "SHA-384", "sha512": "SHA-512"}
"""In `integrity`, and in an SBOM."""


class BadTree(ValueError):
    """The packages of a Node server cannot be read; the message names the file and the cause."""


class NodePackage(Struct, frozen=True):
    path: str
    """Relative to the lock file, as `node_modules/a/node_modules/b`."""
    name: str
    version: str
    licence: str = ""
    digests: dict[str, str] = {}
    """Algorithm → hexadecimal digits, of the package as it is published."""
    requires: tuple[str, ...] = ()
    may_be_absent: bool = False
    """Only for development, or for some platforms."""


class NodeTree(Struct, frozen=True):
    directory: Path
    packages: tuple[NodePackage, ...]

    @property
    def installed(self) -> set[tuple[str, str]]:
        """Name and version of every package below `node_modules`, as each one states them.

        Raises:
            BadTree: nothing is installed, or there are too many files.
        """
        found = {_stated(path) for path in _manifests(self.directory)}
        if not found:
            raise BadTree(f"{self.directory} has no {MODULES.rstrip('/')}: run `npm ci` there first")
        return found


def read_tree(path: Path) -> NodeTree:
    """Read a lock file, named itself or by its directory.

    Raises:
        BadTree: it cannot be read, or is of another version.
        OSError: there is none.
    """
    file = path / LOCK if path.is_dir() else path
    if file.stat().st_size > MAX_BYTES:
        raise BadTree(f"{file} exceeds the limit of {MAX_BYTES} bytes")
    try:
        document = json.loads(file.read_bytes())
        packages = document["packages"] if document["lockfileVersion"] in VERSIONS else None
        if not isinstance(packages, dict):
            raise BadTree(f"{file} is not of version 2 or 3: write it again with npm 7 or later")
        listed = tuple(_packages(packages))
    except BadTree:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadTree(f"{file} is not a lock file of npm: {error!r}") from error
    if len(listed) > MAX_PACKAGES:
        raise BadTree(f"{file} lists more than {MAX_PACKAGES} packages")
    return NodeTree(file.parent, listed)


def _packages(entries: Mapping[str, Any]) -> Iterator[NodePackage]:
    """All but the root and links to it."""
    for path, entry in entries.items():
        if MODULES not in path or entry.get("link"):
            continue
        yield NodePackage(
            path,
            entry.get("name") or path.rpartition(MODULES)[2],
            entry["version"],
            _licence(entry.get("license")),
            digests_of(entry.get("integrity", "")),
            tuple(sorted(entry.get("dependencies", {}))),
            any(entry.get(flag) for flag in ("dev", "optional", "devOptional", "peer")),
        )


def _licence(value: Any) -> str:
    """Old packages state an object."""
    value = value.get("type", "") if isinstance(value, dict) else value
    return value if isinstance(value, str) else ""


def digests_of(integrity: str) -> dict[str, str]:
    """The digests of a Subresource Integrity text; unknown algorithms are left out."""
    digests = {}
    for part in integrity.split():
        algorithm, _, value = part.partition("-")
        try:
            if algorithm in ALGORITHMS:
                digests[ALGORITHMS[algorithm]] = base64.b64decode(value, validate=True).hex()
        except binascii.Error:
            continue
    return digests


def _manifests(directory: Path) -> Iterator[Path]:
    """Every `package.json` of an installed package, not those inside of one."""
    pending, number = [directory / "node_modules"], 0
    while pending:
        folder = pending.pop()
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.name.startswith(".") or not path.is_dir() or path.is_symlink():
                continue
            if path.name.startswith("@"):
                pending.append(path)
                continue
            number += 1
            if number > MAX_PACKAGES:
                raise BadTree(f"{directory} has more than {MAX_PACKAGES} packages")
            if (path / "package.json").is_file():
                yield path / "package.json"
            pending.append(path / "node_modules")


def _stated(path: Path) -> tuple[str, str]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadTree(f"{path} exceeds the limit of {MAX_BYTES} bytes")
        document = json.loads(path.read_bytes())
        return str(document["name"]), str(document["version"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadTree(f"{path} does not state a name and a version: {error!r}") from error
