"""Every file of a directory with its size and SHA-256: nothing in it can go, come or change unnoticed.

Names are the same on every machine: relative, with slashes, in Unicode NFC. What could not be carried
elsewhere unchanged is refused: links, pipes and devices, and names that other systems would take for one
another. Directories count by the files in them only.
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
    """No manifest, or a directory that can have none; the text says why."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
    sha256: Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    size: Annotated[int, Meta(ge=0)]


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    files: Annotated[tuple[Entry, ...], Meta(max_length=MAX_FILES)]
    """By name."""


@dataclass(frozen=True)
class Difference:
    """How a directory departs from its manifest: names of files."""

    missing: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missing or self.added or self.changed)


def take(directory: Path, without: AbstractSet[str] = frozenset(), limit: int = MAX_FILES) -> Manifest:
    """Describe a directory, save the files named in `without`: a manifest cannot hold its own digest.

    Raises:
        BadManifest: it holds what a manifest cannot describe, or cannot be read.
    """
    found = files(directory, limit)
    return Manifest(tuple(_entry(name, found[name]) for name in sorted(found.keys() - without)))


def compare(manifest: Manifest, directory: Path, without: AbstractSet[str] = frozenset()) -> Difference:
    """
    Raises:
        BadManifest: the directory holds what no manifest can describe, or cannot be read.
    """
    listed = {entry.path: entry for entry in manifest.files}
    found = {name: path for name, path in files(directory).items() if name not in without}
    return Difference(
        missing=tuple(sorted(listed.keys() - found.keys())),
        added=tuple(sorted(found.keys() - listed.keys())),
        changed=tuple(
            name for name in sorted(listed.keys() & found.keys()) if _differs(listed[name], found[name])
        ),
    )


def files(directory: Path, limit: int = MAX_FILES) -> dict[str, Path]:
    """The files below a directory by their names, which differ by more than case or spelling.

    Raises:
        BadManifest: it holds what a manifest cannot describe, or cannot be read.
    """
    found: dict[str, Path] = {}
    seen: dict[str, str] = {}
    try:
        for path in _walk(directory):
            name = normalize("NFC", path.relative_to(directory).as_posix())
            _check_name(name)
            if _alike(name) in seen:
                raise BadManifest(
                    f"{name!r} and {seen[_alike(name)]!r} are one name on other systems: rename one"
                )
            seen[_alike(name)] = name
            found[name] = path
            if len(found) > limit:
                raise BadManifest(f"{directory} holds more than {limit} files")
    except OSError as error:
        raise BadManifest(f"cannot read {error.filename}: {error.strerror}") from error
    return found


def encode(manifest: Manifest) -> bytes:
    return canonical.encode(msgspec.to_builtins(manifest))


def read(data: bytes) -> Manifest:
    """
    Raises:
        BadManifest: these bytes are none, or name what would lead out of the directory.
    """
    try:
        manifest = msgspec.convert(canonical.decode(data), Manifest)
    except (canonical.NotCanonical, msgspec.ValidationError) as error:
        raise BadManifest(f"no manifest: {error}") from error
    check_names([entry.path for entry in manifest.files])
    return manifest


def check_names(names: Sequence[str]) -> None:
    """
    Raises:
        BadManifest: one leads out of the directory, is none on some system, or they are not in order.
    """
    for name in names:
        _check_name(name)
    if list(names) != sorted(names) or len({_alike(name) for name in names}) != len(names):
        raise BadManifest("no manifest: names are sorted, and none is there twice")


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
                        f"{entry.path!r} is a link, a pipe or a device: only plain files are evidence"
                    )


def _check_name(name: str) -> None:
    parts = name.split("/")
    if not all(parts) or {".", ".."} & set(parts) or len(name) > MAX_NAME:
        raise BadManifest(f"no name of a file in a directory: {name[:MAX_NAME]!r}")
    # Surrogates are bytes that are no UTF-8; a backslash parts names on some systems.
    if (
        "\\" in name
        or any(category(letter) in ("Cc", "Cs") for letter in name)
        or normalize("NFC", name) != name
    ):
        raise BadManifest(f"not a name on every system: {name!r}")


def _alike(name: str) -> str:
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
    """Sizes first: a file that has grown without end is not read."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise BadManifest(f"cannot read {path}: {error.strerror}") from error
    return size != listed.size or _entry(listed.path, path) != listed
