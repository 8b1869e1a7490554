"""Subjects: how the party under test is started, reached and stopped, on one transport each."""

from __future__ import annotations

import asyncio
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.links.http import HttpLink
from assay.lab.harness.links.http_call import Address, connect
from assay.lab.harness.links.http_sse import HttpSseLink
from assay.lab.harness.links.identity import DEFAULT_IDENTITY, Identity
from assay.lab.harness.links.link import Inbox, Link
from assay.lab.harness.links.stdio import StdioLink, Wire
from assay.lab.harness.links.websocket import WebSocketLink
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Revision

from .process import Process, describe_exit

ENDPOINT: Final = re.compile(rb"MCP endpoint: (\S+)")
START: Final = 20.0
"""Seconds to wait for a subject to start."""
BETWEEN: Final = 0.05
"""Seconds between two attempts to reach a subject that is starting."""


class Subject(Protocol):
    name: str
    """The command or URL, as on the command line."""
    transport: Transport

    async def start(self) -> None:
        """
        Raises:
            Unreachable: the subject cannot be reached, or did not start.
        """

    async def stop(self) -> None: ...

    def separate(self) -> UrlSubject | None:
        """The same server in another process that listens, which a scenario may end. None on stdio, where
        each connection has a process, and if the lab cannot start one at another address."""

    def link(
        self, inbox: Inbox, recorder: Recorder, revision: Revision, *, name: str, patience: float
    ) -> Link: ...

    def stderr_tail(self) -> tuple[str, ...]:
        """The last lines of standard error, if the lab started the process."""


class CommandSubject:
    """A command that uses standard input and output; each connection starts a process."""

    transport = Transport.STDIO

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None, *, name: str = ""
    ) -> None:
        """`name` is the command as people know it, where a launcher starts it."""
        self.name = name or shlex.join(command)
        self.command = tuple(command)
        self.environment = dict(environment or {})
        """Further variables of the process."""

    async def start(self) -> None:
        """Nothing to do: connections start processes."""

    async def stop(self) -> None: ...

    async def spawn(self, on_error: Callable[[bytes], None]) -> Wire:
        return await Process.start(self.command, on_error=on_error, environment=self.environment)

    def separate(self) -> UrlSubject | None:
        return None

    def link(
        self, inbox: Inbox, recorder: Recorder, revision: Revision, *, name: str, patience: float
    ) -> Link:
        return StdioLink(self.spawn, inbox, recorder, name=name)

    def stderr_tail(self) -> tuple[str, ...]:
        return ()


class UrlSubject:
    """An endpoint at a URL; with a command, the lab starts the server."""

    def __init__(
        self,
        url: str,
        *,
        transport: Transport = Transport.HTTP,
        headers: Mapping[str, str] | None = None,
        command: Sequence[str] | None = None,
        identity: Identity = DEFAULT_IDENTITY,
    ) -> None:
        self.name = url
        self._identity = identity
        self.transport = transport
        self._headers = dict(headers or {})
        self._command = command
        self._process: Process | None = None
        self._reviving = asyncio.Lock()

    async def start(self) -> None:
        if self._command is not None:
            await self._require_free_address()
            self._process = await Process.start(self._command)
            self._process.ignore_output()
        try:
            async with asyncio.timeout(START if self._process else None):
                while not await self._reachable():
                    await asyncio.sleep(BETWEEN)
        except TimeoutError:
            raise Unreachable(f"no server at {self.name} within {START:g} s", self.stderr_tail()) from None

    async def _require_free_address(self) -> None:
        """
        Raises:
            Unreachable: another server already listens, and would be judged instead of the command.
        """
        try:
            _, writer = await connect(Address.of(self.name), START, self._identity)
        except Unreachable:
            return
        writer.close()
        raise Unreachable(f"another server already listens at {self.name}, so the command was not started")

    async def _reachable(self) -> bool:
        """
        Raises:
            Unreachable: nothing listens, and no process is starting that might.
        """
        try:
            _, writer = await connect(Address.of(self.name), START, self._identity)
        except Unreachable:
            if self._process is None:
                raise
            if self._process.status is not None:
                raise Unreachable(describe_exit(self._process.status), self.stderr_tail()) from None
            return False
        writer.close()
        return True

    async def stop(self) -> None:
        if self._process is not None:
            await self._process.stop(listens=True)

    def separate(self) -> UrlSubject | None:
        return None

    async def terminate(self, patience: float) -> int | None:
        """Send SIGTERM to the process that the lab started; its status, or None if it keeps running."""
        assert self._process is not None, "the lab did not start the server"
        self._process.terminate()
        try:
            async with asyncio.timeout(patience):
                return await self._process.wait()
        except TimeoutError:
            return None

    async def ended(self, patience: float) -> int | None:
        """The exit status of the process that the lab started; None if there is none, or it keeps running."""
        if self._process is None:
            return None
        try:
            async with asyncio.timeout(patience):
                return await self._process.wait()
        except TimeoutError:
            return None

    async def revive(self) -> None:
        """Start the process again if it has exited.

        Raises:
            Unreachable: it does not start.
        """
        async with self._reviving:
            if self._process is not None and self._process.status is not None:
                await self._process.stop(listens=True)
                await self.start()

    @property
    def process_id(self) -> int | None:
        """Id of the process that the lab started, if any."""
        return None if self._process is None else self._process.process_id

    def link(
        self, inbox: Inbox, recorder: Recorder, revision: Revision, *, name: str, patience: float
    ) -> Link:
        options = {"name": name, "patience": patience, "headers": self._headers, "identity": self._identity}
        kind = _LINKS[self.transport]
        return kind(self.name, inbox, recorder, revision, **options)

    def stderr_tail(self) -> tuple[str, ...]:
        return tuple(self._process.tail) if self._process is not None else ()


_LINKS: Final[Mapping[Transport, Callable[..., Link]]] = {
    Transport.HTTP: HttpLink,
    Transport.HTTP_SSE: HttpSseLink,
    Transport.WEBSOCKET: WebSocketLink,
}


class AnnouncedSubject(UrlSubject):
    """A command that prints `MCP endpoint: <url>` when it listens, as `assay serve` does."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        transport: Transport,
        environment: Mapping[str, str] | None = None,
        identity: Identity = DEFAULT_IDENTITY,
    ) -> None:
        super().__init__("", transport=transport, command=command, identity=identity)
        self._command_line = shlex.join(command)
        self._environment = environment

    def separate(self) -> UrlSubject:
        assert self._command is not None
        return AnnouncedSubject(
            self._command,
            transport=self.transport,
            environment=self._environment,
            identity=self._identity,
        )

    async def start(self) -> None:
        assert self._command is not None
        self._process = await Process.start(self._command, environment=self._environment)
        try:
            async with asyncio.timeout(START):
                self.name = await self._read_endpoint(self._process)
        except TimeoutError:
            raise Unreachable(f"{self._command_line} printed no endpoint within {START:g} s") from None
        self._process.ignore_output()

    async def _read_endpoint(self, process: Process) -> str:
        output = b""
        while data := await process.read():
            output += data
            if match := ENDPOINT.search(output):
                return match[1].decode()
        raise Unreachable(describe_exit(await process.wait()), self.stderr_tail())


def serve_command(target: str, transport: Transport, *options: str) -> tuple[str, ...]:
    """The command that serves a Python file, or a bundled server, on one transport."""
    command = (sys.executable, "-m", "assay", "serve", target, *options)
    return (
        command if transport is Transport.STDIO else (*command, "--transport", str(transport), "--port", "0")
    )


def served(
    target: str, transport: Transport, *options: str, environment: Mapping[str, str] | None = None
) -> Subject:
    """A server in a Python file, or a bundled one, run by `assay serve` in a separate process."""
    command = serve_command(target, transport, *options)
    if transport is Transport.STDIO:
        return CommandSubject(command, environment)
    return AnnouncedSubject(command, transport=transport, environment=environment)
