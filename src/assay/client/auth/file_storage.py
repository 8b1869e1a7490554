"""Tokens in files that only their owner can read."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Final

from assay.model.client_error import AuthorizationFailed

FILE_BYTES: Final = 1024 * 1024
# A link could lead to another file, and opening a pipe could wait for ever.
FLAGS: Final = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)


class FileStorage:
    """Tokens in a directory, one file for each server, readable by their owner only.

    Args:
        directory: Created if missing, with mode 0700.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._directory = Path(directory).expanduser()

    async def load(self, key: str) -> str | None:
        """
        Raises:
            AuthorizationFailed: others can read the file or have written it, or it cannot be read.
        """
        return await asyncio.to_thread(self._load, self._path(key))

    async def save(self, key: str, value: str) -> None:
        """
        Raises:
            AuthorizationFailed: the file cannot be written.
        """
        await asyncio.to_thread(self._save, self._path(key), value)

    async def delete(self, key: str) -> None:
        await asyncio.to_thread(self._path(key).unlink, missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._directory / f"{sha256(key.encode()).hexdigest()[:32]}.json"

    def _load(self, path: Path) -> str | None:
        try:
            with os.fdopen(os.open(path, FLAGS), "rb") as file:
                _check_owner(path, os.fstat(file.fileno()))
                content = file.read(FILE_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise AuthorizationFailed(f"the tokens in {path} cannot be read: {error.strerror}") from error
        if len(content) > FILE_BYTES:
            raise AuthorizationFailed(
                f"{path} has more than {FILE_BYTES} bytes: no file of tokens is so large"
            )
        return content.decode(errors="replace")

    def _save(self, path: Path, value: str) -> None:
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            # A new file with mode 0600 in the same directory, which then replaces the old one at once.
            handle, name = tempfile.mkstemp(dir=self._directory, prefix=".", suffix=".tmp")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(value.encode())
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(name, path)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name)
                raise
        except OSError as error:
            raise AuthorizationFailed(f"the tokens cannot be written to {path}: {error.strerror}") from error


def _check_owner(path: Path, status: os.stat_result) -> None:
    """
    Raises:
        AuthorizationFailed: the file is not private to this user.
    """
    if not stat.S_ISREG(status.st_mode):
        raise AuthorizationFailed(f"{path} is not a file: delete it")
    if os.name != "posix":
        return
    if status.st_uid != os.geteuid():
        raise AuthorizationFailed(
            f"{path} belongs to another user, who may have chosen the tokens: delete it"
        )
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise AuthorizationFailed(
            f"others can read the tokens in {path}: delete the file, or run chmod 600 on it"
        )
