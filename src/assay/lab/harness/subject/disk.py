"""Snapshots of directories, to find out which files a subject changes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from assay.lab.harness.links.broken_off import BrokenOff

from .access import Access

MOST: Final = 20_000
"""Files below the observed directories."""
HASHED: Final = 16 * 1024 * 1024
"""Files up to this size are hashed; larger ones are compared by size and modification time."""

SAFELY: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class Unobservable(BrokenOff):
    """The directories cannot be read before and after every call."""


class Directories:
    """Directories of the subject; a missing directory counts as empty. Empty directories and permissions are
    not observed."""

    def __init__(self, directories: Sequence[Path]) -> None:
        self._directories = tuple(path.resolve() for path in directories)
        self.access = Access()

    def state(self) -> dict[str, str]:
        """
        Raises:
            Unobservable: there are too many files, or a directory cannot be listed.
        """
        # Count before reading: some files below `/` never end.
        paths = list(islice(self._files(), MOST + 1))
        if len(paths) > MOST:
            raise Unobservable(
                f"more than {MOST} files: observe only the directory that the server writes to"
            )
        states = ((str(path), _state(path)) for path in paths)
        return {path: state for path, state in states if state is not None}

    def _files(self) -> Iterator[Path]:
        for directory in self._directories:
            for folder, _, names in os.walk(directory, onerror=_raise_unless_missing):
                yield from (Path(folder, name) for name in names)


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise Unobservable(f"cannot list {error.filename}: {error.strerror}") from error


def _state(path: Path) -> str | None:
    """A fingerprint of the content; None if the file was removed in the meantime.

    Raises:
        Unobservable: the file cannot be read.
    """
    try:
        stat = path.lstat()
        if path.is_symlink():
            return f"link:{os.readlink(path)}"
        if not path.is_file() or stat.st_size > HASHED or not os.access(path, os.R_OK):
            return f"stat:{stat.st_size}:{stat.st_mtime_ns}"
        return f"sha256:{sha256(content(path)).hexdigest()}"
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unobservable(f"cannot read {path}: {error.strerror}") from error


def content(path: Path) -> bytes:
    """The subject may have put a link in the place of the file, or a pipe without a writer."""
    descriptor = os.open(path, SAFELY)
    with open(descriptor, "rb") as file:
        return file.read(HASHED + 1)


class Difference(Struct, frozen=True):
    """Paths that were created, changed or removed between two snapshots."""

    created: list[str]
    changed: list[str]
    removed: list[str]

    @property
    def paths(self) -> list[str]:
        return [*self.created, *self.changed, *self.removed]


def difference(before: dict[str, str], after: dict[str, str]) -> Difference:
    both = before.keys() & after.keys()
    return Difference(
        created=sorted(after.keys() - before.keys()),
        changed=sorted(path for path in both if before[path] != after[path]),
        removed=sorted(before.keys() - after.keys()),
    )
