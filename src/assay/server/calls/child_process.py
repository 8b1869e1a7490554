"""Commands that handlers run: each in a process group, of which nothing outlives the call.

A child inherits none of the server's standard streams: on stdio these belong to the protocol.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, cast

from assay.model.error import ProcessError
from assay.model.visible import visible_record

STDIN, STDOUT, STDERR = range(3)
GRACE: Final = 2.0
"""Seconds between SIGTERM and SIGKILL."""
LAST_OUTPUT: Final = 1.0
"""Seconds to wait for the end of the output after the end of the process group. Only a process that has left
the group can keep it open."""
ERROR_LINES: Final = 10
"""Last lines of standard error in the message of a `ProcessError`."""
ERROR_LENGTH: Final = 2000

logger = logging.getLogger("assay")
logger.addFilter(visible_record)


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that has ended: the result of `Context.run`."""

    returncode: int
    """The exit code; negative if a signal ended the process."""
    stdout: str
    """Its standard output, as UTF-8 in which invalid bytes are replaced."""
    stderr: str
    """Its standard error in the same way; only the end, if that is longer than `max_bytes`."""
    stdout_bytes: bytes = field(default=b"", repr=False)
    """Its standard output, unchanged."""


@dataclass(frozen=True, slots=True)
class Command:
    """What to run, and how."""

    words: tuple[str, ...]
    cwd: str | None
    env: Mapping[str, str] | None
    stdin: bytes | None
    timeout: float | None
    max_bytes: int

    @property
    def name(self) -> str:
        return self.words[0]


def make_command(
    words: tuple[Any, ...],
    *,
    cwd: str | os.PathLike[str] | None,
    env: Mapping[str, str] | None,
    stdin: str | bytes | None,
    timeout: float | None,
    max_bytes: int,
) -> Command:
    """
    Raises:
        TypeError, ValueError: an argument is not text, or the bound is not positive: mistakes of the author.
        ProcessError: an argument cannot be passed to a process. It may come from a client.
    """
    if max_bytes < 1:
        raise ValueError(f"ctx.run: max_bytes must be at least 1: {max_bytes}")
    texts = tuple(_text(position, word) for position, word in enumerate(words))
    data = stdin.encode() if isinstance(stdin, str) else stdin
    return Command(texts, None if cwd is None else os.fspath(cwd), env, data, timeout, max_bytes)


def _text(position: int, word: Any) -> str:
    label = f"argument {position}" if position else "the command"
    text = os.fspath(word) if isinstance(word, os.PathLike) else word
    if not isinstance(text, str):
        fix = f"write str({word!r})" if isinstance(word, int | float) else "pass text or a path"
        raise TypeError(f"ctx.run: {label} is of type {type(word).__name__}: {fix}")
    if not position and not text:
        raise ProcessError("the command is empty")
    if "\0" in text:
        raise ProcessError(f"{label} contains a NUL character, which no process can receive")
    return text


async def run_command(command: Command, *, check: bool, on_output: Callable[[], None]) -> Completed:
    """Run a command. However this ends, no process of its group is left.

    Raises:
        ProcessError: it cannot be started, takes or writes too much, or fails although `check` is set.
    """
    child = await _start(command, on_output)
    in_time = False
    try:
        async with asyncio.timeout(command.timeout):
            await child.ended.wait()
        in_time = True
    except TimeoutError:
        pass
    finally:
        await child.end_group()
    if not in_time:
        raise child.error(f"did not end within {command.timeout:g} s")
    if child.overflowed:
        problem = f"wrote more than {command.max_bytes} bytes"
        raise child.error(f"{problem}: ask it for less, or pass a larger max_bytes")
    if check and child.returncode:
        raise child.error(_ending(child.returncode))
    return child.completed()


async def _start(command: Command, on_output: Callable[[], None]) -> ChildProcess:
    starting = asyncio.ensure_future(_spawn(command, on_output))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        # The process may already run. Left to asyncio, it alone would be ended, and at once.
        with suppress(ProcessError):
            await (await starting).end_group()
        raise


async def _spawn(command: Command, on_output: Callable[[], None]) -> ChildProcess:
    try:
        _, child = await asyncio.get_running_loop().subprocess_exec(
            lambda: ChildProcess(command, on_output),
            *command.words,
            stdin=DEVNULL if command.stdin is None else PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=command.cwd,
            env=command.env,
            start_new_session=True,
        )
    except (OSError, UnicodeEncodeError) as error:
        raise ProcessError(_start_problem(command, error)) from error
    return child


def _start_problem(command: Command, error: OSError | UnicodeEncodeError) -> str:
    if isinstance(error, UnicodeEncodeError):
        return f"cannot run {command.name}: an argument is not valid text"
    if command.cwd is not None and not os.path.isdir(command.cwd):
        return f"cannot run {command.name}: its directory does not exist: {command.cwd}"
    if isinstance(error, FileNotFoundError):
        return _not_found(command)
    return f"cannot run {command.name}: {error.strerror or error}"


def _not_found(command: Command) -> str:
    if os.path.dirname(command.name):
        return f"command not found: {command.name}; it is a path, so PATH is not searched"
    if " " in command.name and len(command.words) == 1:
        parts = ", ".join(f'"{part}"' for part in command.name.split())
        return f"command not found: {command.name}; pass its arguments one by one: ctx.run({parts})"
    path = (os.environ if command.env is None else command.env).get("PATH")
    # Only the log gets the directories: clients need not know them.
    logger.error("command not found: %s; PATH is %s", command.name, path or "empty")
    return f"command not found: {command.name}; install it, or add its directory to the server's PATH"


def _ending(returncode: int) -> str:
    if returncode >= 0:
        return f"failed with exit code {returncode}"
    try:
        return f"was ended by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"was ended by signal {-returncode}"


class ChildProcess(asyncio.SubprocessProtocol):
    """A running command: collects its output, and ends its process group."""

    def __init__(self, command: Command, on_output: Callable[[], None]) -> None:
        self._command = command
        self._on_output = on_output
        self._stdout = bytearray()
        self._stderr = bytearray()
        self._open = {STDOUT, STDERR}
        self.overflowed = False
        self.returncode: int | None = None
        self.ended = asyncio.Event()
        """Set when the process has exited or written too much."""
        self._complete = asyncio.Event()
        """Set when the process has exited and all of its output has been read."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast, because not every event loop derives its transports from asyncio's classes.
        self._transport = cast(asyncio.SubprocessTransport, transport)
        if self._command.stdin is not None:
            stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(STDIN))
            stdin.write(self._command.stdin)
            stdin.close()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._on_output()
        if fd == STDERR:
            self._stderr += data
            del self._stderr[: -self._command.max_bytes]
        elif not self.overflowed:
            self._stdout += data
            if len(self._stdout) > self._command.max_bytes:
                self.overflowed = True
                self.ended.set()

    def pipe_connection_lost(self, fd: int, error: Exception | None) -> None:
        self._open.discard(fd)
        self._check_complete()

    def process_exited(self) -> None:
        self.returncode = self._transport.get_returncode()
        self.ended.set()
        self._check_complete()

    def _check_complete(self) -> None:
        if self.returncode is not None and not self._open:
            self._complete.set()

    async def end_group(self) -> None:
        """End what still runs of the process group, and read the last output."""
        try:
            if self.returncode is None:
                self._signal_group(signal.SIGTERM)
                await self._wait_until_complete(GRACE)
        finally:
            # Also without the grace period, if the event loop ends and cancels this.
            self._signal_group(signal.SIGKILL)
            try:
                await self._wait_until_complete(LAST_OUTPUT)
            finally:
                self._transport.close()

    async def _wait_until_complete(self, patience: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._complete.wait()

    def _signal_group(self, number: signal.Signals) -> None:
        if sys.platform == "win32":
            self._transport.kill()
            return
        # The process leads its group. As long as another process of the group runs, the number is not reused.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), number)

    def completed(self) -> Completed:
        assert self.returncode is not None
        data = bytes(self._stdout)
        return Completed(self.returncode, data.decode(errors="replace"), self._error_text(), data)

    def error(self, problem: str) -> ProcessError:
        errors = self._error_text()
        last = "\n".join(errors.rstrip().splitlines()[-ERROR_LINES:])[-ERROR_LENGTH:]
        text = f"{self._command.name} {problem}"
        return ProcessError(
            f"{text}: {last}" if last else text,
            self.returncode,
            self._stdout.decode(errors="replace"),
            errors,
        )

    def _error_text(self) -> str:
        return self._stderr.decode(errors="replace")
