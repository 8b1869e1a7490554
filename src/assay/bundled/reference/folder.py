"""A folder on disk, read and written without any way to reach files outside it.

A path is opened one name at a time, each relative to the descriptor of its parent directory and without
following links. Nothing can be swapped between a check and its use, and no path leads out: names contain no
slash, and `..` is refused.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

MOST_BYTES: Final = 2 * 1024 * 1024
"""Of a file that is read. Base64 and JSON make it larger, and clients accept 4 MiB."""
MOST_FILES: Final = 10_000
"""In the list of resources."""
MOST_WRITTEN: Final = 1000
"""Entries of the folder itself, beyond which no file is added."""
LONGEST_NAME: Final = 255
LONGEST_PATH: Final = 4096
DEEPEST: Final = 32

# O_NONBLOCK: opening a pipe must not wait for its other end. O_NOCTTY: a terminal must not become ours.
_FILE: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_DIRECTORY: Final = _FILE | getattr(os, "O_DIRECTORY", 0)
_NEW: Final = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)
CAN_BE_SAFE: Final = (
    hasattr(os, "O_NOFOLLOW") and os.open in os.supports_dir_fd and os.scandir in os.supports_fd
)


class FileUnavailable(Exception):
    """The path cannot be read or written. The reason is for the log, not for clients."""


class TooLarge(FileUnavailable):
    def __init__(self, size: int) -> None:
        super().__init__(f"file too large: {size} bytes, limit {MOST_BYTES}")


class Stamp(NamedTuple):
    """Attributes that change when a file is written."""

    size: int
    modified: int
    changed: int
    inode: int


class Folder:
    """The files below a directory, even if the directory is renamed later."""

    def __init__(self, path: Path) -> None:
        """
        Raises:
            OSError: the directory does not exist, or this platform cannot read one safely.
        """
        if not CAN_BE_SAFE:
            raise OSError("this platform cannot read a folder without following links")
        self.path = path.resolve()
        # Links above the folder are its owner's choice; those below it may be an attack.
        self._root = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._root)

    def read(self, path: str) -> bytes:
        """
        Raises:
            FileUnavailable: it is not a regular file below this folder.
        """
        *parents, name = split(path)
        try:
            with self._opened_directory(parents) as directory, opened_file(name, directory) as descriptor:
                return read_whole(descriptor)
        except OSError as error:
            raise FileUnavailable(f"{path!r}: {error.strerror}") from error

    @contextmanager
    def _opened_directory(self, names: list[str]) -> Iterator[int]:
        directory = os.dup(self._root)
        try:
            for name in names:
                inner = os.open(name, _DIRECTORY, dir_fd=directory)
                os.close(directory)
                directory = inner
            yield directory
        finally:
            os.close(directory)

    def write(self, name: str, data: bytes) -> bytes | None:
        """Write a file into this folder, atomically, and return its previous content; None for a new file.

        Raises:
            FileUnavailable: the name is invalid or taken by something else, or the folder is full.
            OSError: it cannot be written.
        """
        if not is_name(name):
            raise FileUnavailable(f"invalid file name: {name!r}")
        before = self._replaceable(name)
        if before is None and len(os.listdir(self._root)) >= MOST_WRITTEN:
            raise FileUnavailable(f"the folder is full: limit {MOST_WRITTEN} files")
        # Written under a hidden name first: readers never see half a file, and a link is replaced, not
        # followed.
        hidden = f".{secrets.token_hex(8)}"
        try:
            with os.fdopen(os.open(hidden, _NEW, 0o644, dir_fd=self._root), "wb") as file:
                file.write(data)
            os.replace(hidden, name, src_dir_fd=self._root, dst_dir_fd=self._root)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(hidden, dir_fd=self._root)
            raise
        return before

    def _replaceable(self, name: str) -> bytes | None:
        try:
            os.stat(name, dir_fd=self._root, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return self.read(name)

    def scan(self) -> dict[str, Stamp]:
        """All files by path, sorted by name."""
        stamps: dict[str, Stamp] = {}
        for above, directories, files, directory in os.fwalk(".", dir_fd=self._root):
            parents = above.split("/")[1:]
            directories[:] = sorted(filter(is_name, directories)) if len(parents) < DEEPEST - 1 else []
            for name in sorted(filter(is_name, files)):
                stamp = stamp_of(name, directory)
                if stamp is not None:
                    stamps["/".join((*parents, name))] = stamp
                if len(stamps) >= MOST_FILES:
                    return stamps
        return stamps


def split(path: str) -> list[str]:
    """The names in a path.

    Raises:
        FileUnavailable: one of them is invalid, or there are too many.
    """
    names = path.split("/")
    if len(path) > LONGEST_PATH or len(names) > DEEPEST:
        raise FileUnavailable("path too long")
    if not all(map(is_name, names)):
        raise FileUnavailable(f"invalid path: {path!r}")
    return names


def is_name(name: str) -> bool:
    """Whether a name is served: hidden files, `.` and `..` are not."""
    if not name or name.startswith(".") or "/" in name or "\\" in name or not name.isprintable():
        return False
    try:
        return len(name.encode("utf-8")) <= LONGEST_NAME
    except UnicodeEncodeError:
        return False  # not UTF-8: it has no URI


def stamp_of(name: str, directory: int) -> Stamp | None:
    """The state of a regular file; None for anything else."""
    try:
        about = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return None  # removed in the meantime
    if not stat.S_ISREG(about.st_mode):
        return None
    return Stamp(about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino)


@contextmanager
def opened_file(name: str, directory: int) -> Iterator[int]:
    # Checked before opening, because opening a device may have an effect.
    if stamp_of(name, directory) is None:
        raise FileUnavailable(f"not a regular file: {name!r}")
    descriptor = os.open(name, _FILE, dir_fd=directory)
    try:
        # Checked again: another file may have taken the name.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileUnavailable(f"not a regular file: {name!r}")
        yield descriptor
    finally:
        os.close(descriptor)


def read_whole(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    if size > MOST_BYTES:
        raise TooLarge(size)
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:  # it grew while it was read
        raise TooLarge(len(data))
    return data
