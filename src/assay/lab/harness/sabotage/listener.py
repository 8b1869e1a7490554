"""A server on a free port of this machine, whose connections end with it."""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod

from assay.lab.harness.broken_off import BrokenOff


class Listener(ABC):
    """Whoever inherits says what happens on a connection."""

    def __init__(self, scheme: str, path: str) -> None:
        self._scheme = scheme
        self._path = path
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @abstractmethod
    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, which is closed afterwards."""

    async def start(self) -> str:
        """Returns the URL of the endpoint."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        return f"{self._scheme}://127.0.0.1:{port}{self._path}"

    async def stop(self) -> None:
        if self._server is None:
            return
        self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            # Hanging up on either side ends the exchange, as it would without us in between; so does `stop`,
            # which nobody else has to hear of.
            with contextlib.suppress(ConnectionError, EOFError, BrokenOff, asyncio.CancelledError):
                await self.talk(reader, writer)
        finally:
            self._open.discard(task)
            writer.close()
