"""The common base of the HTTP and WebSocket listeners."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .http_reply import HttpReply
from .http_server import HttpServer, InboundRequest
from .server import ScriptedServer


class Listener(ABC):
    """Serves one path. Hooks of the scripted server come first; subclasses define the answer."""

    def __init__(self, server: ScriptedServer, path: str, *, name: str, endpoint: str | None = None) -> None:
        self._server = server
        self._path = path
        self.server = HttpServer(server.recorder, self._serve, name=name, endpoint=endpoint)

    @property
    def origin(self) -> str:
        return self.server.origin

    async def start(self) -> None:
        await self.server.start()

    async def stop(self) -> None:
        await self.server.stop()

    async def _serve(self, request: InboundRequest, reply: HttpReply) -> None:
        for hook in self._server.hooks:
            if await hook(request, reply):
                return
        await self.answer(request, reply)

    def is_other_path(self, request: InboundRequest) -> bool:
        return request.path != (self._path or "/")

    @abstractmethod
    async def answer(self, request: InboundRequest, reply: HttpReply) -> None: ...
