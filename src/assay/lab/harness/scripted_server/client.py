"""The client under test: a command that is started for one scenario, and what is left when it ended."""

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
"""The name of one that nobody starts: it comes by itself."""
TAIL, WIDTH, LONGEST = 3, 200, 8 * 1024
"""Lines of standard error that a report quotes, characters of each, bytes in which they are looked for."""
GRACE: Final = 2.0
"""Seconds between SIGTERM and SIGKILL, and for what was written to arrive."""
LINGER, LOOK = 0.5, 0.02
"""Seconds that what a client has left behind may take to end, and between two looks at it."""


class Invitation(Struct, frozen=True):
    """What a client is given to begin with."""

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


class Ended(Struct, frozen=True):
    """How a client ended."""

    status: int | None
    """Negative for a signal; none where there is none to tell."""
    stdout: bytes = b""
    stderr: bytes = b""
    stopped: bool = False
    """It had to be stopped, because its time was over."""

    @property
    def last_words(self) -> tuple[str, ...]:
        """The end of its standard error, for a report."""
        said = [line.rstrip() for line in self.stderr[-LONGEST:].decode(errors="replace").splitlines()]
        return tuple(line[:WIDTH] for line in said if line)[-TAIL:]


class Client(Protocol):
    name: str
    """As a user would write it."""
    transport: Transport

    async def run(self, invitation: Invitation, limit: float) -> Ended:
        """Let it come, and wait until it has ended, by itself or not.

        Raises:
            Unreachable: it cannot be started.
        """


class CommandClient:
    """Started without a shell, in a group of its own; the whole group ends with it."""

    def __init__(self, command: Sequence[str], transport: Transport) -> None:
        self.name = shlex.join(command)
        for place in (URL, SERVER):  # no shell minds these
            self.name = self.name.replace(f"'{place}'", place)
        self.transport = transport
        self._command = tuple(command)

    async def run(self, invitation: Invitation, limit: float) -> Ended:
        with StandardStream() as out, StandardStream() as err:
            process = await self._start(invitation, out, err)
            try:
                status = await _ended(process, limit)
                await _emptied(process.pid)
            finally:
                _signal(process, signal.SIGKILL)  # whatever it has started ends with it
                await process.wait()
            kept = await asyncio.gather(out.rest(GRACE), err.rest(GRACE))
        return Ended(status, *kept, stopped=status is None)

    async def _start(
        self, invitation: Invitation, out: StandardStream, err: StandardStream
    ) -> asyncio.subprocess.Process:
        words = arguments(self._command, invitation)
        try:
            return await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out.writes,
                stderr=err.writes,
                start_new_session=True,
                env={**os.environ, **invitation.environment},
            )
        except OSError as error:
            raise Unreachable(f"cannot run {words[0]}: {error.strerror or error}") from None
        finally:
            out.hand_over()
            err.hand_over()


def arguments(command: Sequence[str], invitation: Invitation) -> list[str]:
    """The command with the address put in; a URL comes last where nothing says otherwise."""
    places = {URL: invitation.url, SERVER: invitation.server}
    words = []
    for word in command:
        for place, value in places.items():
            word = word.replace(place, value)
        words.append(word)
    named = any(place in word for word in command for place in places)
    return words if named or not invitation.url else [*words, invitation.url]


async def _ended(process: asyncio.subprocess.Process, limit: float) -> int | None:
    with suppress(TimeoutError):
        async with asyncio.timeout(limit):
            return await process.wait()
    _signal(process, signal.SIGTERM)
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE):
            await process.wait()
    return None


async def _emptied(group: int) -> None:
    """Give what it has left behind a moment to end by itself, as a server does whose input has ended: our
    signal is none of the client's."""
    with suppress(TimeoutError, ProcessLookupError, PermissionError):
        async with asyncio.timeout(LINGER):
            while True:
                os.killpg(group, 0)
                await asyncio.sleep(LOOK)


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
