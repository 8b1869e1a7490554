"""The stage of a client scenario: the scripted server, and HTTP servers at other addresses."""

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
    """Listens before the scenario runs, so that the addresses are known; the client starts afterwards."""

    def __init__(
        self, recorder: Recorder, revision: Revision, transport: Transport, path: str = "/mcp"
    ) -> None:
        self.revision = revision
        self.transport = transport
        self.server = ScriptedServer(revision, transport, recorder)
        self.context: dict[str, Any] = {}
        """The client's context; see `ClientScript`."""
        self._recorder = recorder
        self._servers: list[HttpServer] = []
        self._listener: HttpListener | WebSocketListener | StdioListener = _LISTENERS[transport](
            self.server, path
        )

    @property
    def url(self) -> str:
        """The URL of the endpoint; empty on stdio."""
        return "" if isinstance(self._listener, StdioListener) else self._listener.url

    @property
    def origin(self) -> str:
        return "" if isinstance(self._listener, StdioListener) else self._listener.origin

    @property
    def command(self) -> str:
        """The command that starts the server; empty unless on stdio."""
        return shlex.join(self._listener.command) if isinstance(self._listener, StdioListener) else ""

    async def add_server(self, name: str, serve: Serve) -> str:
        """Start another HTTP server and return its origin. Its frames are on channels `<name>/…`."""
        server = HttpServer(self._recorder, serve, name=name)
        self._servers.append(server)
        return await server.start()

    @property
    def fault(self) -> Exception | None:
        """The first error of the lab itself."""
        own = [] if isinstance(self._listener, StdioListener) else [self._listener.server]
        faults = (self.server.fault, *(server.fault for server in [*own, *self._servers]))
        return next((fault for fault in faults if fault is not None), None)

    async def open(self) -> None:
        await self._listener.start()

    async def close(self) -> None:
        await asyncio.gather(*(server.stop() for server in (self._listener, *self._servers)))


_LISTENERS: Any = {
    Transport.HTTP: HttpListener,
    Transport.WEBSOCKET: WebSocketListener,
    Transport.STDIO: lambda server, path: StdioListener(server),
}
