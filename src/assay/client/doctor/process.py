"""A server as a command: whether it starts, what it writes first, and whether it ends by itself.

One process is watched with plain pipes: a `Client` would forgive what other clients do not.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from assay.client.stdio import Stdio
from assay.model.client_error import quoted_lines
from assay.transport.client.command import Command

from .opening import initialize_params
from .step import Setup, Step, failed, passed, skipped, warned

LINE_BYTES: Final = 1 << 20
"""Of a line on standard output; a longer one ends the watch."""
LINES: Final = 20
CHARACTERS: Final = 200
EXIT_SECONDS: Final = 2.0
"""For a server to end after the end of its input."""
BY_HAND: Final = "run the command by hand and look at its output"


# The program.


def find(target: Stdio) -> Step:
    word = target.command[0]
    path = Command(target.command, target.env, target.cwd, target.inherit_env).environment().get("PATH")
    program = shutil.which(word, path=path)
    if program is not None:
        return passed("command", f"{word} is {program}" if program != word else f"{word} is there")
    if os.path.dirname(word):
        place = os.path.join(target.cwd or "", word)
        if os.path.isdir(place):
            return failed("command", f"{word} is a directory", "name the program in it")
        if os.path.exists(place):
            fix = f"run `chmod +x {word}`, or name its interpreter: -- python {word}"
            return failed("command", f"{word} is not executable", fix)
        return failed("command", f"{word} does not exist", "check the path; it is relative to this directory")
    return failed("command", f"{word} is in no directory of PATH", f"install {word}, or write its whole path")


# The process.


class Watch:
    """A process of the server, and what it wrote."""

    def __init__(self, target: Stdio, setup: Setup) -> None:
        self._target = target
        self._setup = setup
        self._errors: deque[str] = deque(maxlen=LINES)
        self._stray: list[str] = []
        self._first: str | None = None
        self._answered = False
        self._readers: list[asyncio.Task[None]] = []

    async def steps(self) -> list[Step]:
        """Start, first line, other lines, and the end."""
        start = time.perf_counter()
        try:
            process = await self._start()
        except (OSError, ValueError) as error:
            return [failed("start", f"it cannot be started: {_reason(error)}", _start_fix(error))]
        try:
            await self._converse(process)
            ms = round(1000 * (time.perf_counter() - start), 1)
            ended = process.returncode if not self._answered else None
            steps = [self._started(ended, ms), *self._output(ended)]
            return [*steps, await self._end(process)]
        finally:
            await self._kill(process)

    async def _start(self) -> asyncio.subprocess.Process:
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), asyncio.subprocess.PIPE)
        target = self._target
        command = Command(target.command, target.env, target.cwd, target.inherit_env)
        if sys.platform != "win32":
            pipes["start_new_session"] = True
        process = await asyncio.create_subprocess_exec(
            *target.command, env=command.environment(), cwd=target.cwd, limit=LINE_BYTES, **pipes
        )
        self._readers.append(asyncio.create_task(self._drain(process)))
        return process

    async def _drain(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        with contextlib.suppress(ValueError):  # an endless line
            async for line in process.stderr:
                self._errors.append(line[:CHARACTERS].decode(errors="replace").rstrip("\r\n"))

    async def _converse(self, process: asyncio.subprocess.Process) -> None:
        """Send `initialize`, which every server must answer, and read until its answer."""
        message = {"jsonrpc": "2.0", "id": "doctor-1", "method": "initialize", "params": initialize_params()}
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(self._setup.timeout):
                await _write(process, message)
                await self._read(process)
                if self._answered:
                    await _write(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
                    return
                await process.wait()

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await _line(process.stdout):
            text = line[:CHARACTERS].decode(errors="replace").rstrip("\r\n")
            self._first = text if self._first is None else self._first
            message = _message(line)
            if message is None:
                self._stray.append(text)
            elif message.get("id") == "doctor-1":
                self._answered = True
            if self._answered or len(self._stray) >= LINES:
                return

    # Judgements.

    def _started(self, ended: int | None, ms: float) -> Step:
        if ended is None:
            return passed("start", "the process runs", ms)
        return failed("start", f"it ended with exit code {ended}{self._words()}", BY_HAND)

    def _words(self) -> str:
        return quoted_lines(self._errors, [])

    def _output(self, ended: int | None) -> Iterator[Step]:
        if self._first is None:
            if ended is None:
                detail = f"nothing on standard output in {self._setup.timeout:g} s{self._words()}"
                fix = "does it serve stdio, and flush its output? a server must answer `initialize` there"
                yield failed("first line", detail, fix)
            else:
                yield skipped("first line", "it ended before it wrote one")
            return
        if self._stray and self._first == self._stray[0]:
            fix = "print to standard error: standard output is for messages only"
            yield failed("first line", f"not a message: {self._first}", fix)
        else:
            yield passed("first line", "a message")
        others = self._stray[1:] if self._stray and self._first == self._stray[0] else self._stray
        if others:
            detail = f"{len(others)} further lines are not messages, such as: {others[0]}"
            yield failed("output", detail, "print to standard error, also in libraries and child processes")
        elif not self._answered:
            yield failed("output", f"no answer to `initialize`{self._words()}", "is this an MCP server?")
        else:
            yield passed("output", "only messages" if not self._stray else "then only messages")

    async def _end(self, process: asyncio.subprocess.Process) -> Step:
        if process.returncode is not None and not self._answered:
            return skipped("exit", "it has already ended")
        assert process.stdin is not None and process.stdout is not None
        self._readers.append(asyncio.create_task(_discard(process.stdout)))  # it must be able to write
        process.stdin.close()
        try:
            async with asyncio.timeout(EXIT_SECONDS):
                code = await process.wait()
        except TimeoutError:
            fix = "end the server when its standard input ends: clients must kill it otherwise"
            return failed("exit", f"it still runs {EXIT_SECONDS:g} s after the end of its input", fix)
        if code != 0:
            detail = f"exit code {code} after the end of its input{self._words()}"
            return warned("exit", detail, "catch the end of the input, and return")
        return passed("exit", "it ends with its input, with exit code 0")

    async def _kill(self, process: asyncio.subprocess.Process) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        for task in self._readers:
            task.cancel()
        await asyncio.wait(self._readers)
        process._transport.close()  # type: ignore[attr-defined]  # what it started may hold the pipes open
        await process.wait()


async def _write(process: asyncio.subprocess.Process, message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(message) + b"\n")
    await process.stdin.drain()


async def _line(stream: asyncio.StreamReader) -> bytes:
    """The next line, or the beginning of one that is too long; empty at the end."""
    try:
        return await stream.readline()
    except ValueError:
        return f"a line of more than {LINE_BYTES} bytes".encode()


async def _discard(stream: asyncio.StreamReader) -> None:
    while await stream.read(LINE_BYTES):
        pass


def _message(line: bytes) -> dict[str, Any] | None:
    try:
        message = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    return message if isinstance(message, dict) and message.get("jsonrpc") == "2.0" else None


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def _start_fix(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and "format" in _reason(error).lower():
        return "a script begins with the line of its interpreter, such as #!/usr/bin/env python3"
    if isinstance(error, FileNotFoundError):
        return "does the interpreter in its first line exist, and the directory to start in?"
    return BY_HAND
