"""The client under test: a command that runs once for each scenario."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, Protocol

import msgspec
from msgspec import Struct

from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.transport import Transport

from .standard_stream import StandardStream

URL, SERVER = "{url}", "{server}"
SCENARIO: Final = "MCP_CONFORMANCE_SCENARIO"
CONTEXT: Final = "MCP_CONFORMANCE_CONTEXT"
VERSION: Final = "MCP_CONFORMANCE_PROTOCOL_VERSION"
ATTACHED: Final = "an attached client"
"""The name of a client that the lab does not start."""
UNABLE: Final = 127
"""The exit status of a client that cannot do what the scenario asks for."""
TAIL, WIDTH, LONGEST = 3, 200, 8 * 1024
"""A report quotes at most so many lines of standard error, characters of a line, and bytes in all."""
ERROR: Final = "Error"
GRACE: Final = 2.0
"""Seconds between SIGTERM and SIGKILL, and for the rest of the output to arrive."""
LINGER, INTERVAL = 0.5, 0.02
"""Seconds that child processes of the client have to exit, and between two looks at them."""


class ClientSetup(Struct, frozen=True):
    """What a client gets at its start: the environment and the address of the server."""

    scenario: str
    revision: str
    context: dict[str, Any]
    url: str = ""
    server: str = ""
    """On stdio: the command line that starts the server."""

    @property
    def environment(self) -> dict[str, str]:
        context = msgspec.json.encode({"name": self.scenario, **self.context}).decode()
        return {SCENARIO: self.scenario, VERSION: self.revision, CONTEXT: context}


class ClientExit(Struct, frozen=True):
    """How a client ended."""

    status: int | None
    """The exit status, negative for a signal; None for a client without a process, or one that timed out."""
    stdout: bytes = b""
    stderr: bytes = b""
    stopped: bool = False
    """Stopped by the lab after a timeout."""

    @property
    def last_words(self) -> tuple[str, ...]:
        """The last lines of standard error, for a report; with the one that names the error, since some
        runtimes write more below it."""
        lines = [line.rstrip() for line in self.stderr[-LONGEST:].decode(errors="replace").splitlines()]
        lines = [line[:WIDTH] for line in lines if line]
        last = lines[-TAIL:]
        naming = [line for line in lines if ERROR in line]
        if naming and not any(ERROR in line for line in last):
            return (naming[-1], *last[1:])
        return tuple(last)


def said_unable(client_exit: ClientExit) -> str:
    """The client's own words, if it has any."""
    words = client_exit.last_words[-1:]
    return f"the client says so, with exit status {UNABLE}" + "".join(f": {word}" for word in words)


class Client(Protocol):
    name: str
    """As the user wrote it."""
    transport: Transport

    async def run(self, setup: ClientSetup, limit: float) -> ClientExit:
        """Run the client to its end; stop it after `limit` seconds.

        Raises:
            Unreachable: the client cannot be started.
        """


class CommandClient:
    """A command that runs without a shell, in its own process group, which is killed with it."""

    def __init__(self, command: Sequence[str], transport: Transport) -> None:
        self.name = shlex.join(command)
        for placeholder in (URL, SERVER):  # a shell needs no quotes around these
            self.name = self.name.replace(f"'{placeholder}'", placeholder)
        self.transport = transport
        self._command = tuple(command)

    async def run(self, setup: ClientSetup, limit: float) -> ClientExit:
        with StandardStream() as out, StandardStream() as err:
            process = await self._start(setup, out, err)
            try:
                status = await _wait(process, limit)
                await _wait_for_group(process.pid)
            finally:
                _signal(process, signal.SIGKILL)  # kills the child processes, too
                await process.wait()
            output = await asyncio.gather(out.rest(GRACE), err.rest(GRACE))
        return ClientExit(status, *output, stopped=status is None)

    async def _start(
        self, setup: ClientSetup, out: StandardStream, err: StandardStream
    ) -> asyncio.subprocess.Process:
        words = arguments(self._command, setup)
        try:
            return await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out.write_end,
                stderr=err.write_end,
                start_new_session=True,
                env={**os.environ, **setup.environment},
            )
        except OSError as error:
            raise Unreachable(f"cannot run {words[0]}: {error.strerror or error}") from None
        finally:
            out.close_write_end()
            err.close_write_end()


def arguments(command: Sequence[str], setup: ClientSetup) -> list[str]:
    """The command with its placeholders replaced; without any, the URL becomes the last argument."""
    values = {URL: setup.url, SERVER: setup.server}
    words = []
    for word in command:
        for placeholder, value in values.items():
            word = word.replace(placeholder, value)
        words.append(word)
    replaced = any(placeholder in word for word in command for placeholder in values)
    return words if replaced or not setup.url else [*words, setup.url]


async def _wait(process: asyncio.subprocess.Process, limit: float) -> int | None:
    with suppress(TimeoutError):
        async with asyncio.timeout(limit):
            return await process.wait()
    _signal(process, signal.SIGTERM)
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE):
            await process.wait()
    return None


async def _wait_for_group(group: int) -> None:
    """Let child processes exit, as a stdio server does when its input closes, so that the trace of that
    server shows no signal that the client did not send."""
    with suppress(TimeoutError, ProcessLookupError, PermissionError):
        async with asyncio.timeout(LINGER):
            while True:
                os.killpg(group, 0)
                await asyncio.sleep(INTERVAL)


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
