"""Vulnerability records of an OSV export: a JSON file, a directory of JSON files, or a zip archive.

An export is untrusted: sizes and counts are bounded, and the sizes that a zip archive declares are ignored.
An unreadable record makes the whole export invalid, because skipping it could hide a vulnerability.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from assay.certify.bundle import manifest

MIB: Final = 1024 * 1024


class BadExport(ValueError):
    """Not an OSV export, or one that exceeds the bounds; the message names the file and the cause."""


@dataclass(frozen=True)
class Bounds:
    """Several times the size of the exports of PyPI and npm."""

    file_bytes: int = 512 * MIB
    """Of the file on disk."""
    record_bytes: int = 16 * MIB
    """Of one file in a directory or archive, uncompressed."""
    total_bytes: int = 4096 * MIB
    ratio: int = 100
    """Uncompressed to compressed bytes of an archive: about 10 for records, 1,000 for a zip bomb."""
    records: int = 1_000_000


BOUNDS: Final = Bounds()


class Event(msgspec.Struct, frozen=True):
    introduced: str | None = None
    fixed: str | None = None
    last_affected: str | None = None
    limit: str | None = None


class Range(msgspec.Struct, frozen=True):
    type: str
    events: list[Event]


class Package(msgspec.Struct, frozen=True):
    ecosystem: str
    name: str


class Affected(msgspec.Struct, frozen=True):
    package: Package | None = None
    ranges: list[Range] | None = None
    versions: list[str] | None = None


class Severity(msgspec.Struct, frozen=True):
    type: str
    score: str
    """A vector such as `CVSS:3.1/AV:N/…`."""


class Record(msgspec.Struct, frozen=True):
    id: str
    modified: str
    withdrawn: str | None = None
    summary: str | None = None
    details: str | None = None
    aliases: list[str] | None = None
    affected: list[Affected] | None = None
    severity: list[Severity] | None = None
    database_specific: dict[str, Any] | None = None


_DECODER: Final = msgspec.json.Decoder(Record)
_LIST_DECODER: Final = msgspec.json.Decoder(Record | list[Record])


def digest(path: Path, bounds: Bounds = BOUNDS) -> str:
    """The SHA-256 of an export: of the file, or of the manifest of the directory.

    Raises:
        BadExport: the export is unreadable.
    """
    try:
        if path.is_dir():
            return sha256(manifest.encode(manifest.take(path, limit=bounds.records))).hexdigest()
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except manifest.BadManifest as error:
        raise BadExport(f"not an OSV export: {error}") from error
    except OSError as error:
        raise BadExport(f"cannot read {path}: {error.strerror}") from error


def records(path: Path, bounds: Bounds = BOUNDS) -> Iterator[Record]:
    """
    Raises:
        BadExport: the export is unreadable, exceeds the bounds, or contains other data than records.
    """
    count = 0
    try:
        for count, record in enumerate(_all(path, bounds), 1):
            if count > bounds.records:
                raise BadExport(f"{path} contains more than {bounds.records} records")
            yield record
    except OSError as error:
        raise BadExport(f"cannot read {error.filename or path}: {error.strerror or error}") from error
    if not count:
        raise BadExport(f"{path} contains no OSV record: use an export, such as the all.zip of an ecosystem")


def _all(path: Path, bounds: Bounds) -> Iterator[Record]:
    if path.is_dir():
        yield from _each(_directory(path, bounds), bounds)
        return
    if not path.is_file():
        raise BadExport(f"{path} is neither a file nor a directory")
    size = path.stat().st_size
    if size > bounds.file_bytes:
        raise BadExport(f"{path} has {size} bytes, more than the limit of {bounds.file_bytes}")
    if zipfile.is_zipfile(path):
        yield from _each(_zip(path, bounds), replace(bounds, total_bytes=_max_unpacked(size, bounds)))
    else:
        yield from _plain(path)


def _max_unpacked(size: int, bounds: Bounds) -> int:
    """The uncompressed bytes that an archive of that size may have."""
    return min(bounds.total_bytes, size * bounds.ratio)


def _plain(path: Path) -> list[Record]:
    try:
        document = _LIST_DECODER.decode(path.read_bytes())
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadExport(f"{path} contains no OSV record: {error}") from error
    return document if isinstance(document, list) else [document]


def _each(files: Iterator[tuple[str, bytes]], bounds: Bounds) -> Iterator[Record]:
    total = 0
    for name, data in files:
        total += len(data)
        if len(data) > bounds.record_bytes:
            raise BadExport(f"{name} has more than {bounds.record_bytes} bytes")
        if total > bounds.total_bytes:
            raise BadExport(f"the files up to {name} have more than {bounds.total_bytes} bytes")
        try:
            yield _DECODER.decode(data)
        except (msgspec.DecodeError, RecursionError) as error:
            raise BadExport(f"{name} contains no OSV record: {error}") from error


def _directory(path: Path, bounds: Bounds) -> Iterator[tuple[str, bytes]]:
    try:
        for name, file in sorted(manifest.list_files(path, bounds.records).items()):
            if name.endswith(".json"):
                with file.open("rb") as opened:
                    yield str(file), opened.read(bounds.record_bytes + 1)
    except manifest.BadManifest as error:
        raise BadExport(f"not an OSV export: {error}") from error


def _zip(path: Path, bounds: Bounds) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if member.filename.endswith(".json")]
            if len(members) > bounds.records:
                raise BadExport(f"{path} contains more than {bounds.records} files")
            for member in members:
                with archive.open(member) as opened:
                    yield f"{path}: {member.filename}", opened.read(bounds.record_bytes + 1)
    # zipfile raises RuntimeError for an encrypted member and for an unsupported compression method.
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError) as error:
        raise BadExport(f"cannot unpack {path}: {error}") from error
