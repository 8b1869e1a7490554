"""A manifest lists every file of a directory with its size and SHA-256: any change is detected.

Names are portable: relative, with slashes, in Unicode NFC. Links, pipes and devices are rejected, and so are
names that other systems treat as equal. Empty directories are ignored.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final
from unicodedata import category, normalize

import msgspec
from msgspec import Meta

from assay.signing import canonical

MAX_FILES: Final = 100_000
MAX_NAME: Final = 1024
_CHUNK: Final = 1024 * 1024


class BadManifest(ValueError):
    """The manifest is invalid, or the directory cannot be described; the message gives the cause."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
    sha256: Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    size: Annotated[int, Meta(ge=0)]


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    files: Annotated[tuple[Entry, ...], Meta(max_length=MAX_FILES)]
    """Sorted by name."""


@dataclass(frozen=True)
class Difference:
    """The names of files in which a directory differs from its manifest."""

    missing: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missing or self.added or self.changed)


def take(directory: Path, without: AbstractSet[str] = frozenset(), limit: int = MAX_FILES) -> Manifest:
    """Describe a directory. `without` names files to leave out, such as the manifest itself.

    Raises:
        BadManifest: the directory contains files that a manifest cannot describe, or is unreadable.
    """
    paths = list_files(directory, limit)
    return Manifest(tuple(_entry(name, paths[name]) for name in sorted(paths.keys() - without)))


def compare(manifest: Manifest, directory: Path, without: AbstractSet[str] = frozenset()) -> Difference:
    """
    Raises:
        BadManifest: the directory contains files that a manifest cannot describe, or is unreadable.
    """
    listed = {entry.path: entry for entry in manifest.files}
    paths = {name: path for name, path in list_files(directory).items() if name not in without}
    return Difference(
        missing=tuple(sorted(listed.keys() - paths.keys())),
        added=tuple(sorted(paths.keys() - listed.keys())),
        changed=tuple(
            name for name in sorted(listed.keys() & paths.keys()) if _differs(listed[name], paths[name])
        ),
    )


def list_files(directory: Path, limit: int = MAX_FILES) -> dict[str, Path]:
    """The files below a directory by name. Two names must not differ only in case or Unicode form.

    Raises:
        BadManifest: the directory contains files that a manifest cannot describe, or is unreadable.
    """
    paths: dict[str, Path] = {}
    names: dict[str, str] = {}
    try:
        for path in _walk(directory):
            name = normalize("NFC", path.relative_to(directory).as_posix())
            _check_name(name)
            key = _folded(name)
            if key in names:
                raise BadManifest(
                    f"{name!r} and {names[key]!r} are equal on other systems: rename one of them"
                )
            names[key] = name
            paths[name] = path
            if len(paths) > limit:
                raise BadManifest(f"{directory} contains more than {limit} files")
    except OSError as error:
        raise BadManifest(f"cannot read {error.filename}: {error.strerror}") from error
    return paths


def encode(manifest: Manifest) -> bytes:
    return canonical.encode(msgspec.to_builtins(manifest))


def check_names(names: Sequence[str]) -> None:
    """
    Raises:
        BadManifest: a name leads out of the directory or is not portable, or names are unsorted or equal.
    """
    for name in names:
        _check_name(name)
    if list(names) != sorted(names) or len({_folded(name) for name in names}) != len(names):
        raise BadManifest("not a manifest: names must be sorted and unique")


def _walk(directory: Path) -> Iterator[Path]:
    waiting = [directory]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                elif entry.is_file(follow_symlinks=False):
                    yield Path(entry.path)
                else:
                    raise BadManifest(
                        f"{entry.path!r} is a link, a pipe or a device: only regular files are allowed"
                    )


def _check_name(name: str) -> None:
    parts = name.split("/")
    if not all(parts) or {".", ".."} & set(parts) or len(name) > MAX_NAME:
        raise BadManifest(f"not a relative file name: {name[:MAX_NAME]!r}")
    # Surrogates stand for bytes that are not UTF-8; Windows takes a backslash for a separator.
    if (
        "\\" in name
        or any(category(letter) in ("Cc", "Cs") for letter in name)
        or normalize("NFC", name) != name
    ):
        raise BadManifest(f"not a portable file name: {name!r}")


def _folded(name: str) -> str:
    return normalize("NFC", name.casefold())


def _entry(name: str, path: Path) -> Entry:
    try:
        with path.open("rb") as file:
            digest, size = sha256(), 0
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
    except OSError as error:
        raise BadManifest(f"cannot read {path}: {error.strerror}") from error
    return Entry(name, digest.hexdigest(), size)


def _differs(listed: Entry, path: Path) -> bool:
    """Compare sizes first, so that a huge file is never read."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise BadManifest(f"cannot read {path}: {error.strerror}") from error
    return size != listed.size or _entry(listed.path, path) != listed
