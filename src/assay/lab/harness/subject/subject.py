"""Subjects: how the party under test is started, reached and stopped. One subject serves one transport."""

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
from assay.lab.harness.links.identity import ANYBODY, Identity
from assay.lab.harness.links.link import Inbox, Link
from assay.lab.harness.links.stdio import StdioLink, Wire
from assay.lab.harness.links.websocket import WebSocketLink
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Revision

from .process import Process, how_it_ended

ENDPOINT: Final = re.compile(rb"MCP endpoint: (\S+)")
START: Final = 20.0
"""Seconds that a subject has to come up."""
BETWEEN: Final = 0.05
"""Seconds between two attempts to reach a subject that is coming up."""


class Subject(Protocol):
    name: str
    """As a user would write it: a command, or a URL."""
    transport: Transport

    async def start(self) -> None:
        """
        Raises:
            Unreachable: it is not there, or did not come up.
        """

    async def stop(self) -> None: ...

    def link(
        self, inbox: Inbox, recorder: Recorder, revision: Revision, *, name: str, patience: float
    ) -> Link: ...

    def last_words(self) -> tuple[str, ...]:
        """The end of its standard error, where the lab has it."""


class CommandSubject:
    """A command that speaks on its standard streams; each connection is a process of its own."""

    transport = Transport.STDIO

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.name = shlex.join(command)
        self._command = tuple(command)
        self._environment = environment

    async def start(self) -> None:
        """Nothing to do: connections start processes."""

    async def stop(self) -> None: ...

    async def spawn(self, on_error: Callable[[bytes], None]) -> Wire:
        return await Process.start(self._command, on_error=on_error, environment=self._environment)

    def link(
        self, inbox: Inbox, recorder: Recorder, revision: Revision, *, name: str, patience: float
    ) -> Link:
        return StdioLink(self.spawn, inbox, recorder, name=name)

    def last_words(self) -> tuple[str, ...]:
        return ()


class UrlSubject:
    """An endpoint that is reached by its URL; the lab starts it only if it was given a command."""

    def __init__(
        self,
        url: str,
        *,
        transport: Transport = Transport.HTTP,
        headers: Mapping[str, str] | None = None,
        command: Sequence[str] | None = None,
        identity: Identity = ANYBODY,
    ) -> None:
        self.name = url
        self._identity = identity
        self.transport = transport
        self._headers = dict(headers or {})
        self._command = command
        self._process: Process | None = None

    async def start(self) -> None:
        if self._command is not None:
            await self._expect_nobody()
            self._process = await Process.start(self._command)
            self._process.ignore_output()
        try:
            async with asyncio.timeout(START if self._process else None):
                while not await self._reachable():
                    await asyncio.sleep(BETWEEN)
        except TimeoutError:
            raise Unreachable(f"no server at {self.name} within {START:g} s", self.last_words()) from None

    async def _expect_nobody(self) -> None:
        """
        Raises:
            Unreachable: somebody listens already, and would be judged in place of the command.
        """
        try:
            _, writer = await connect(Address.of(self.name), START, self._identity)
        except Unreachable:
            return
        writer.close()
        raise Unreachable(f"another server is there already, so the command was not started at {self.name}")

    async def _reachable(self) -> bool:
        """
        Raises:
            Unreachable: it is not there, and nothing is on its way to change that.
        """
        try:
            _, writer = await connect(Address.of(self.name), START, self._identity)
        except Unreachable:
            if self._process is None:
                raise
            if self._process.status is not None:
                raise Unreachable(how_it_ended(self._process.status), self.last_words()) from None
            return False
        writer.close()
        return True

    async def stop(self) -> None:
        if self._process is not None:
            await self._process.stop(listens=True)

    @property
    def process_id(self) -> int | None:
        """Of the process that the lab started, if it did."""
        return None if self._process is None else self._process.process_id

    def link(
        self, inbox: Inbox, recorder: Recorder, revision: Revision, *, name: str, patience: float
    ) -> Link:
        options = {"name": name, "patience": patience, "headers": self._headers, "identity": self._identity}
        kind = _LINKS[self.transport]
        return kind(self.name, inbox, recorder, revision, **options)

    def last_words(self) -> tuple[str, ...]:
        return tuple(self._process.tail) if self._process is not None else ()


_LINKS: Final[Mapping[Transport, Callable[..., Link]]] = {
    Transport.HTTP: HttpLink,
    Transport.HTTP_SSE: HttpSseLink,
    Transport.WEBSOCKET: WebSocketLink,
}


class AnnouncedSubject(UrlSubject):
    """A command that prints `MCP endpoint: <url>` once it listens, as `assay serve` does."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        transport: Transport,
        environment: Mapping[str, str] | None = None,
        identity: Identity = ANYBODY,
    ) -> None:
        super().__init__("", transport=transport, command=command, identity=identity)
        self._shown = shlex.join(command)
        self._environment = environment

    async def start(self) -> None:
        assert self._command is not None
        self._process = await Process.start(self._command, environment=self._environment)
        try:
            async with asyncio.timeout(START):
                self.name = await self._announced(self._process)
        except TimeoutError:
            raise Unreachable(f"{self._shown} announced no endpoint within {START:g} s") from None
        self._process.ignore_output()

    async def _announced(self, process: Process) -> str:
        seen = b""
        while data := await process.read():
            seen += data
            if match := ENDPOINT.search(seen):
                return match[1].decode()
        raise Unreachable(how_it_ended(await process.wait()), self.last_words())


def served(
    target: str, transport: Transport, *options: str, environment: Mapping[str, str] | None = None
) -> Subject:
    """A server in a Python file, or a bundled one, served by `assay serve` as a process of its own."""
    command = (sys.executable, "-m", "assay", "serve", target, *options)
    if transport is Transport.STDIO:
        return CommandSubject(command, environment)
    listening = (*command, "--transport", str(transport), "--port", "0")
    return AnnouncedSubject(listening, transport=transport, environment=environment)
