"""A real folder, read and written so that nothing outside it can be reached.

A path is opened one name at a time, each relative to the descriptor of the directory before it and never
through a link. So there is no moment between a check and a use in which a name could come to mean
something else, and no spelling of a path that leads out: a name holds no slash, and `..` is no name.
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

LARGEST: Final = 2 * 1024 * 1024
"""Bytes of a file that is read; Base64 and JSON make it larger, and clients take 4 MiB."""
MOST_FILES: Final = 10_000
"""Files that are listed."""
MOST_WRITTEN: Final = 1000
"""Things right below the folder, from which on no file is added."""
LONGEST_NAME: Final = 255
LONGEST_PATH: Final = 4096
DEEPEST: Final = 32

# O_NONBLOCK: opening a pipe would wait for its other end. O_NOCTTY: a terminal would become ours.
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


class Refused(Exception):
    """There is no file to read under that path, for whatever reason; the text is for the log."""


class TooLarge(Refused):
    def __init__(self, size: int) -> None:
        super().__init__(f"file too large: {size} bytes, limit {LARGEST}")


class Stamp(NamedTuple):
    """What tells one state of a file from another."""

    size: int
    modified: int
    changed: int
    inode: int


class Folder:
    """Files below one directory. It stays the same directory even when it is renamed."""

    def __init__(self, path: Path) -> None:
        """
        Raises:
            OSError: there is no such directory, or this platform cannot read one safely.
        """
        if not CAN_BE_SAFE:
            raise OSError("this platform has no way to read a folder that cannot be led out of")
        self.path = path.resolve()
        # Links above the folder are its owner's choice; what is below is not.
        self._root = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._root)

    def read(self, path: str) -> bytes:
        """
        Raises:
            Refused: it is no regular file below this folder.
        """
        *parents, name = split(path)
        try:
            with self._opened_directory(parents) as directory, opened_file(name, directory) as descriptor:
                return read_whole(descriptor)
        except OSError as error:
            raise Refused(f"{path!r}: {error.strerror}") from error

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
        """Put a file right below this folder, as a whole or not at all; what it held before, if it was there.

        Raises:
            Refused: this is no name for a file, something else has it, or there are too many files.
            OSError: it cannot be written.
        """
        if not is_name(name):
            raise Refused(f"not a name for a file: {name!r}")
        before = self._replaceable(name)
        if before is None and len(os.listdir(self._root)) >= MOST_WRITTEN:
            raise Refused(f"the folder is full: limit {MOST_WRITTEN} files")
        # Written under a hidden name first: nobody reads half a file, and a link is replaced, not followed.
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
        """The files that are listed, by path, in order of their names."""
        found: dict[str, Stamp] = {}
        for above, directories, files, directory in os.fwalk(".", dir_fd=self._root):
            parents = above.split("/")[1:]
            directories[:] = sorted(filter(is_name, directories)) if len(parents) < DEEPEST - 1 else []
            for name in sorted(filter(is_name, files)):
                stamp = stamp_of(name, directory)
                if stamp is not None:
                    found["/".join((*parents, name))] = stamp
                if len(found) >= MOST_FILES:
                    return found
        return found


def split(path: str) -> list[str]:
    """The names that a path goes through.

    Raises:
        Refused: one of them is no name, or there are too many.
    """
    names = path.split("/")
    if len(path) > LONGEST_PATH or len(names) > DEEPEST:
        raise Refused("path too long")
    if not all(map(is_name, names)):
        raise Refused(f"not a path to a file: {path!r}")
    return names


def is_name(name: str) -> bool:
    """Whether this is a name that is served: hidden files, `.` and `..` are not."""
    if not name or name.startswith(".") or "/" in name or "\\" in name or not name.isprintable():
        return False
    try:
        return len(name.encode("utf-8")) <= LONGEST_NAME
    except UnicodeEncodeError:
        return False  # bytes that are no text: no URI could say them


def stamp_of(name: str, directory: int) -> Stamp | None:
    """The state of a regular file; none for anything else."""
    try:
        about = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return None  # it went away meanwhile
    if not stat.S_ISREG(about.st_mode):
        return None
    return Stamp(about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino)


@contextmanager
def opened_file(name: str, directory: int) -> Iterator[int]:
    # Looked at first, because opening a device may already do something.
    if stamp_of(name, directory) is None:
        raise Refused(f"not a regular file: {name!r}")
    descriptor = os.open(name, _FILE, dir_fd=directory)
    try:
        # And once more: another file may have taken its name.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refused(f"not a regular file: {name!r}")
        yield descriptor
    finally:
        os.close(descriptor)


def read_whole(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    if size > LARGEST:
        raise TooLarge(size)
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:  # it grew while it was read
        raise TooLarge(len(data))
    return data
