"""Starts the process of a server. Importing this takes little time: commands start the server, and import the
client meanwhile."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from subprocess import PIPE, Popen
from typing import Final, NamedTuple

INHERITED: Final = frozenset(
    {
        *("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"),
        *("APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES"),
        *("PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE"),
    }
)
"""Variables that a server needs to start. Others may be secrets that do not concern it."""
START_HINTS: Final[dict[int | None, str]] = {
    errno.EACCES: "; make the file executable, or start it with its interpreter",
    errno.ENOEXEC: "; is it built for this system? A script starts with #! and its interpreter",
    errno.E2BIG: "; the arguments or env= are too long",
}


class Command(NamedTuple):
    """What to start, and how."""

    words: tuple[str, ...]
    env: Mapping[str, str] | None = None
    cwd: str | None = None
    inherit_env: bool = False

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def environment(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if self.inherit_env or name.upper() in INHERITED or name.startswith("LC_")
        }
        return {**inherited, **(self.env or {})}


def start(command: Command) -> Popen[bytes]:
    """A process with pipes for its streams, in a process group for itself. Not for Windows, where an event
    loop cannot wait for such pipes.

    Raises:
        OSError, ValueError: it cannot be started; `start_problem` explains it.
    """
    return Popen(
        command.words,
        bufsize=0,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=command.environment(),
        cwd=command.cwd,
        start_new_session=True,
    )


def end(process: Popen[bytes]) -> None:
    """Kill a process that nothing was sent to, with what it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with process:  # closes its pipes, and waits
        pass


def start_problem(command: Command, error: OSError | ValueError) -> str:
    """Why a command cannot be started, and what to change."""
    if isinstance(error, FileNotFoundError) and command.cwd is not None and not os.path.isdir(command.cwd):
        return f"cannot start {command.text}: the directory does not exist: {command.cwd}"
    if isinstance(error, FileNotFoundError) and len(command.words) == 1 and " " in command.text:
        words = ", ".join(map(repr, command.text.split()))
        return f"cannot start {command.text!r}, which was not found; if it is several words: Stdio({words})"
    if isinstance(error, FileNotFoundError):
        return f"cannot start {command.text}: {command.words[0]} was not found; install it, or check PATH"
    problem = getattr(error, "strerror", None) or str(error)
    return f"cannot start {command.text}: {problem}{START_HINTS.get(getattr(error, 'errno', None), '')}"
