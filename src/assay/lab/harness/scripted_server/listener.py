"""The common base of the HTTP and WebSocket listeners."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .http_reply import HttpReply
from .http_server import Asked, HttpServer
from .server import ScriptedServer


class Listener(ABC):
    """Serves one path. Hooks of the scripted server come first; subclasses define the answer."""

    def __init__(self, host: ScriptedServer, path: str, *, name: str, endpoint: str | None = None) -> None:
        self._host = host
        self._path = path
        self.server = HttpServer(host.recorder, self._serve, name=name, endpoint=endpoint)

    @property
    def origin(self) -> str:
        return self.server.origin

    async def start(self) -> None:
        await self.server.start()

    async def stop(self) -> None:
        await self.server.stop()

    async def _serve(self, asked: Asked, reply: HttpReply) -> None:
        for hook in self._host.hooks:
            if await hook(asked, reply):
                return
        await self.answer(asked, reply)

    def is_other_path(self, asked: Asked) -> bool:
        return asked.path != (self._path or "/")

    @abstractmethod
    async def answer(self, asked: Asked, reply: HttpReply) -> None: ...
