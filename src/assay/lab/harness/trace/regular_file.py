"""Files that a stranger may have made: a stored run can come from anywhere, with links, pipes and devices."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Neither follow a link, nor wait for the writer of a pipe."""
_LINK: Final = (errno.ELOOP, errno.EMLINK)
"""What systems answer when the last part of a path is a link."""


class UnfitFile(ValueError):
    """A path is not that of a regular file of a permitted size; the message says what it is."""


def read_regular(path: Path, largest: int) -> bytes:
    """
    Raises:
        UnfitFile: not a regular file, or larger than `largest` bytes.
        OSError: the file cannot be read.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno in _LINK:
            raise UnfitFile("a symbolic link, not a regular file") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnfitFile("not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise UnfitFile(f"larger than {largest} bytes")
    return data
