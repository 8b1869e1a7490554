"""Servers on a free local port, which close their connections when they stop."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from abc import ABC, abstractmethod
from http.client import responses

from assay.lab.harness.links.broken_off import BrokenOff
from assay.lab.harness.links.connections import Connections
from assay.lab.harness.links.http_text import CRLF, HEAD_END, parse_head

from .saboteur import Request, Response


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

    async def terminate(self) -> None:
        """End as a process does after SIGTERM: without a fault, connections are cut off."""
        await self.stop()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # If the upstream server disconnects, closing ours ends the exchange as it would without a proxy.
        with contextlib.suppress(BrokenOff):
            await self.handle(reader, writer)


class ProxyServer(LocalServer):
    def __init__(self, path: str, tls: ssl.SSLContext | None = None) -> None:
        super().__init__("http", path, tls)

    @abstractmethod
    async def serve(self, request: Request, writer: asyncio.StreamWriter) -> None: ...

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await _read_request(reader)
        await _until_disconnect(self.serve(request, writer), reader)


async def _until_disconnect(work: object, reader: asyncio.StreamReader) -> None:
    """Run the work until it is done, or until the driver disconnects."""
    serving = asyncio.ensure_future(work)  # type: ignore[call-overload]
    disconnect = asyncio.ensure_future(reader.read())
    try:
        await asyncio.wait({serving, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
    finally:
        for task in (serving, disconnect):
            task.cancel()
        await asyncio.gather(serving, disconnect, return_exceptions=True)


async def _read_request(reader: asyncio.StreamReader) -> Request:
    head = parse_head(await reader.readuntil(HEAD_END))
    length = head.get("content-length")
    body = await reader.readexactly(int(length)) if length and length.isdecimal() else b""
    return Request(list(head.headers), head.method, head.target, body)


def send_head(writer: asyncio.StreamWriter, response: Response) -> None:
    phrase = responses.get(response.status, "Odd")
    lines = [f"HTTP/1.1 {response.status} {phrase}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in response.headers]
    writer.write("\r\n".join(lines).encode("latin-1") + CRLF + CRLF)


async def send_whole(writer: asyncio.StreamWriter, response: Response, body: bytes) -> None:
    response.set("Content-Length", str(len(body)))
    send_head(writer, response)
    writer.write(body)
    await writer.drain()
