"""A server as a command. Importing this takes little time, so that a program can start the server first."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from os import PathLike, fspath
from typing import TYPE_CHECKING, Final, Never

from assay.transport.client.command import Command, end, start

if TYPE_CHECKING:
    from subprocess import Popen

WORDS: Final = "Stdio takes the program and its arguments as separate words: Stdio('uvx', 'name')"


class Stdio:
    """A server as a command, whose process the client starts and ends.

        Stdio("uvx", "some-server", env={"TOKEN": "…"})

    Args:
        *command: The program and its arguments.
        env: Variables for the process, besides the few that programs need, such as PATH and HOME.
        cwd: The directory that it starts in.
        inherit_env: Whether it gets all variables of this process.

    Raises:
        TypeError: the command is empty or has something else than words, or env something else than texts.
    """

    __slots__ = ("_started", "command", "cwd", "env", "inherit_env")

    def __init__(
        self,
        *command: str | PathLike[str],
        env: Mapping[str, str] | None = None,
        cwd: str | PathLike[str] | None = None,
        inherit_env: bool = False,
        **others: Never,
    ) -> None:
        if others:
            raise TypeError(f"Stdio has no option {next(iter(others))}=: {WORDS}")
        if not command or not all(isinstance(word, str | PathLike) for word in command):
            raise TypeError(WORDS)
        for name, value in (env or {}).items():
            if not isinstance(name, str) or not isinstance(value, str):
                raise TypeError(f"env must have texts: {name!r} is {type(value).__name__}")
        self.command = tuple(fspath(word) for word in command)
        self.env = None if env is None else dict(env)
        self.cwd = None if cwd is None else fspath(cwd)
        self.inherit_env = inherit_env
        self._started: Popen[bytes] | None = None

    def __repr__(self) -> str:
        return f"Stdio({', '.join(map(repr, self.command))})"

    @property
    def process_command(self) -> Command:
        return Command(self.command, self.env, self.cwd, self.inherit_env)

    def start(self) -> None:
        """Start the process now, for the first client that opens. What cannot be started is left to that
        client, which raises the error."""
        with suppress(OSError, ValueError):
            self._started = start(self.process_command)

    def take_started(self) -> Popen[bytes] | None:
        """The process that was started, once."""
        started, self._started = self._started, None
        return started

    def end_started(self) -> None:
        """End the process if no client has taken it."""
        started = self.take_started()
        if started is not None:
            end(started)
