"""Append-only files that detect changes by others."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)


class AppendOnlyFile:
    """Keeps what could not be written, and writes it first next time."""

    def __init__(self, path: Path, *, fsync: bool) -> None:
        """
        Raises:
            OSError: The file exists, or cannot be created.
        """
        self._path = path
        self._fsync = fsync
        self._descriptor = os.open(path, _FLAGS, 0o644)
        self._length = 0
        self._rest = b""

    def write(self, data: bytes) -> None:
        """
        Raises:
            OSError: Not everything was written; call again, with or without more data.
        """
        self._rest += data
        self._expect_untouched()
        while self._rest:
            written = os.write(self._descriptor, self._rest)
            self._length += written
            self._rest = self._rest[written:]
        if self._fsync:
            os.fsync(self._descriptor)

    def _expect_untouched(self) -> None:
        """A deleted or replaced file would still accept writes, which nothing would ever read."""
        there, ours = os.stat(self._path), os.fstat(self._descriptor)
        if (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino):
            raise OSError(errno.ESTALE, "the file was replaced")
        if ours.st_size != self._length:
            raise OSError(errno.ESTALE, f"the file has {ours.st_size} bytes instead of {self._length}")

    def close(self) -> None:
        os.close(self._descriptor)
