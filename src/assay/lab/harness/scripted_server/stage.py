"""What a scenario about clients is given: a host to set up, and room for other addresses beside it."""

from __future__ import annotations

import asyncio
import shlex
from typing import Any

from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Revision

from .http_listener import HttpListener
from .http_server import HttpServer, Serve
from .server import ScriptedServer
from .stdio_listener import StdioListener
from .websocket_listener import WebSocketListener


class ClientStage:
    """The addresses are known before the scenario sets anything up; nobody calls before it has."""

    def __init__(
        self, recorder: Recorder, revision: Revision, transport: Transport, path: str = "/mcp"
    ) -> None:
        self.revision = revision
        self.transport = transport
        self.host = ScriptedServer(revision, transport, recorder)
        self.context: dict[str, Any] = {}
        """What the client is told besides; see `Brief`."""
        self._recorder = recorder
        self._rooms: list[HttpServer] = []
        self._door: HttpListener | WebSocketListener | StdioListener = _DOORS[transport](self.host, path)

    @property
    def url(self) -> str:
        """Of the endpoint; on stdio there is none."""
        return "" if isinstance(self._door, StdioListener) else self._door.url

    @property
    def origin(self) -> str:
        return "" if isinstance(self._door, StdioListener) else self._door.origin

    @property
    def command(self) -> str:
        """What a client starts on stdio to reach the host."""
        return shlex.join(self._door.command) if isinstance(self._door, StdioListener) else ""

    async def room(self, name: str, serve: Serve) -> str:
        """Serve another address; returns its origin. Its frames are on channels `<name>/…`."""
        server = HttpServer(self._recorder, serve, name=name)
        self._rooms.append(server)
        return await server.start()

    @property
    def fault(self) -> Exception | None:
        """The first error of the lab itself, wherever it was."""
        servers = self._rooms if isinstance(self._door, StdioListener) else [self._door.server, *self._rooms]
        faults = (self.host.fault, *(one.fault for one in servers))
        return next((one for one in faults if one is not None), None)

    async def open(self) -> None:
        await self._door.start()

    async def close(self) -> None:
        await asyncio.gather(*(one.stop() for one in (self._door, *self._rooms)))


_DOORS: Any = {
    Transport.HTTP: HttpListener,
    Transport.WEBSOCKET: WebSocketListener,
    Transport.STDIO: lambda host, path: StdioListener(host),
}
