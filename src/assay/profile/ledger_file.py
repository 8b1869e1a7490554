"""Files that only grow, and notice when somebody else touches them."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)


class GrowingFile:
    """What could not be written is kept, and is the first to be written later."""

    def __init__(self, path: Path, *, fsync: bool) -> None:
        """
        Raises:
            OSError: it is there already, or cannot be made.
        """
        self._path = path
        self._fsync = fsync
        self._descriptor = os.open(path, _FLAGS, 0o644)
        self._length = 0
        self._rest = b""

    def write(self, data: bytes) -> None:
        """
        Raises:
            OSError: not all of it could be written: call again, with no data or more.
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
        """A file that was removed can still be written to, and nobody will ever read it."""
        there, ours = os.stat(self._path), os.fstat(self._descriptor)
        if (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino):
            raise OSError(errno.ESTALE, "another file has taken its place")
        if ours.st_size != self._length:
            raise OSError(errno.ESTALE, f"it has {ours.st_size} bytes where {self._length} were written")

    def close(self) -> None:
        os.close(self._descriptor)
