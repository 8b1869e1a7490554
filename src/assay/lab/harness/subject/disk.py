"""What lies in directories, to see what a subject changes there."""

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
"""Bytes of a file up to which it is read; of a larger one, size and time tell whether it changed."""


class Unobservable(BrokenOff):
    """What lies there cannot be looked at before and after every call."""


class Directories:
    """Directories of the subject, given by name; what is not there yet, is empty. Directories without files
    are not seen, nor who may read a file."""

    def __init__(self, directories: Sequence[Path]) -> None:
        self._directories = tuple(path.resolve() for path in directories)
        self.access = Access()

    def state(self) -> dict[str, str]:
        """
        Raises:
            Unobservable: they hold too many files, or one of them cannot be listed.
        """
        # Counted before one is read: below `/`, some files never end.
        paths = list(islice(self._files(), MOST + 1))
        if len(paths) > MOST:
            raise Unobservable(f"more than {MOST} files: observe the directory that the server writes to")
        states = ((str(path), _state(path)) for path in paths)
        return {path: state for path, state in states if state is not None}

    def _files(self) -> Iterator[Path]:
        for directory in self._directories:
            for place, _, names in os.walk(directory, onerror=_unless_gone):
                yield from (Path(place, name) for name in names)


def _unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise Unobservable(f"cannot look into {error.filename}: {error.strerror}") from error


def _state(path: Path) -> str | None:
    """What tells this content from another; none when it has gone meanwhile.

    Raises:
        Unobservable: it is there, and cannot be read.
    """
    try:
        about = path.lstat()
        if path.is_symlink():
            return f"link:{os.readlink(path)}"
        if not path.is_file() or about.st_size > HASHED or not os.access(path, os.R_OK):
            return f"stat:{about.st_size}:{about.st_mtime_ns}"
        return f"sha256:{sha256(path.read_bytes()).hexdigest()}"
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unobservable(f"cannot read {path}: {error.strerror}") from error


class Difference(Struct, frozen=True):
    """What lies there after something that did not before, or otherwise."""

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
