"""A server on a free local port, which closes its connections when it stops."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from abc import ABC, abstractmethod

from assay.lab.harness.links.broken_off import BrokenOff
from assay.lab.harness.links.connections import Connections


class LocalServer(ABC):
    def __init__(self, scheme: str, path: str, tls: ssl.SSLContext | None = None) -> None:
        """Uses TLS if it gets a TLS context."""
        self._scheme = scheme if tls is None else f"{scheme}s"
        self._tls = tls
        self._path = path
        self._connections = Connections(self._connected)

    @abstractmethod
    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection, which is closed afterwards."""

    async def start(self) -> str:
        """Returns the URL of the endpoint."""
        port = await self._connections.listen(context=self._tls)
        return f"{self._scheme}://127.0.0.1:{port}{self._path}"

    async def stop(self) -> None:
        await self._connections.stop()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # If the upstream server disconnects, closing ours ends the exchange as it would without a proxy.
        with contextlib.suppress(BrokenOff):
            await self.handle(reader, writer)
