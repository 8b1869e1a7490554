"""A server on a free port of this machine, whose connections end with it."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from abc import ABC, abstractmethod

from assay.lab.harness.links.broken_off import BrokenOff
from assay.lab.harness.links.connections import Connections


class LocalServer(ABC):
    """Whoever inherits says what happens on a connection."""

    def __init__(self, scheme: str, path: str, context: ssl.SSLContext | None = None) -> None:
        """With a context, it speaks TLS."""
        self._scheme = scheme if context is None else f"{scheme}s"
        self._context = context
        self._path = path
        self._connections = Connections(self._talk)

    @abstractmethod
    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, which is closed afterwards."""

    async def start(self) -> str:
        """Returns the URL of the endpoint."""
        port = await self._connections.listen(context=self._context)
        return f"{self._scheme}://127.0.0.1:{port}{self._path}"

    async def stop(self) -> None:
        await self._connections.stop()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Hanging up on the other side ends the exchange, as it would without us in between.
        with contextlib.suppress(BrokenOff):
            await self.talk(reader, writer)
