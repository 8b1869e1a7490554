"""An HTTP server for faults, with one request for each connection."""

from __future__ import annotations

import asyncio
import ssl
from abc import abstractmethod
from http.client import responses

from assay.lab.harness.links.http_text import CRLF, HEAD_END, parse_head

from .local_server import LocalServer
from .saboteur import Request, Response


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
