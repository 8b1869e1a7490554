"""Write a server into the file of an application, and keep everything else that is there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from . import jsonc
from .entry import Entry
from .error import HostFileProblem
from .host import Host

MOST_BYTES: Final = 8 * 1024 * 1024
"""The file of Claude Code also has its history."""
PRIVATE: Final = 0o600
"""Entries may have secrets in `env` and `headers`."""


class Installed(NamedTuple):
    path: Path
    backup: Path | None
    """A copy of the file as it was; None if there was none, or if nothing changed."""
    replaced: Any
    """The entry that had the name before, None without one."""
    changed: bool


def read_text(path: Path) -> str:
    """
    Raises:
        HostFileProblem: the file is too large, not UTF-8, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise HostFileProblem(f"cannot read {path}: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise HostFileProblem(f"{path} has more than {MOST_BYTES} bytes", "is it the right file?")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise HostFileProblem(f"{path} is not UTF-8: byte {error.start}", "save it as UTF-8") from error


def servers_in(path: Path, key: str) -> Mapping[str, Any]:
    """The servers of a file, by name; none if there is no such file.

    Raises:
        HostFileProblem: the file is not valid.
    """
    document = _checked(path, read_text(path))
    servers = document.get(key, {}) if isinstance(document, dict) else {}
    return servers if isinstance(servers, dict) else {}


def install(host: Host, name: str, entry: Entry, path: Path, *, replace: bool = False) -> Installed:
    """Write the entry of a server.

    Raises:
        HostFileProblem: the file is not valid or cannot be written, or the name has another entry.
    """
    path = path.resolve()  # a link stays a link
    text, settings = read_text(path), host.to_settings(entry)
    _checked(path, text)
    before = servers_in(path, host.key).get(name)
    if before == settings:
        return Installed(path, None, before, changed=False)
    if before is not None and not replace:
        fix = "replace it with --replace, or choose another name with --name"
        raise HostFileProblem(f"{path} already has another server named {name}", fix)
    changed = _edited(path, text, (host.key, name), settings)
    try:
        backup = _copied(path, text) if path.exists() else None
        _write(path, changed)
    except OSError as error:
        raise HostFileProblem(f"cannot write {path}: {error.strerror}") from error
    return Installed(path, backup, before, changed=True)


def _checked(path: Path, text: str) -> Any:
    try:
        return jsonc.read(text)
    except jsonc.BadJson as error:
        raise HostFileProblem(
            f"{path} is not valid JSON: {error}", "correct it first: nothing was changed"
        ) from None


def _edited(path: Path, text: str, place: tuple[str, str], settings: dict[str, Any]) -> str:
    try:
        changed = jsonc.with_member(text, place, settings)
    except jsonc.BadJson as error:
        raise HostFileProblem(
            f"cannot add to {path}: {error}", "correct it first: nothing was changed"
        ) from None
    return changed


def _copied(path: Path, text: str) -> Path:
    """Beside the file, under the first free name."""
    number = 1
    while True:
        backup = path.with_name(f"{path.name}.backup-{number}")
        try:
            descriptor = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
        except FileExistsError:
            number += 1
            continue
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return backup


def _write(path: Path, text: str) -> None:
    """All of it or nothing, with the permissions that the file had."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else PRIVATE
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except OSError:
        os.unlink(name)
        raise
