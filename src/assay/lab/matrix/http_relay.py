"""Passes HTTP between a client and a server, and records it first.

Heads are passed on as they are. A body in chunks is passed on in chunks, perhaps others.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Final
from urllib.parse import urlsplit

from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.links.connections import Connections
from assay.lab.harness.links.http_call import Address, Ended, HeadRead, PieceRead, connect, read_response
from assay.lab.harness.links.http_text import CRLF, EVENT_STREAM, HEAD_END, Head
from assay.lab.harness.links.split import Blocks
from assay.lab.harness.scripted_server.inbound import Inbound
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.recorder import Flooded, Recorder

NAME: Final = "1"
PATIENCE: Final = 10.0
MAX_BODY: Final = 32 * 1024 * 1024
"""Bytes of a body in one frame; more are passed on, and not recorded."""

Upstream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class HttpRelay:
    def __init__(self, recorder: Recorder, url: str) -> None:
        """
        Raises:
            ValueError: not a URL of an HTTP endpoint.
        """
        self._recorder = recorder
        self._address = Address.of(url)
        self._parts = urlsplit(url)
        self._connections = Connections(self._connected)
        self._count = 0
        self._port = 0

    @property
    def url(self) -> str:
        """The address for the client."""
        return self._parts._replace(netloc=f"{self._parts.hostname}:{self._port}").geturl()

    async def start(self) -> None:
        self._port = await self._connections.listen()
        with contextlib.suppress(OSError):  # clients resolve `localhost` to either address
            await self._connections.listen("::1", self._port)

    async def stop(self) -> None:
        await self._connections.stop()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inbound = Inbound(reader)
        link = _Link(self._address)
        try:
            with contextlib.suppress(ValueError, Flooded, Unreachable):
                while await self._exchange(inbound, link, writer):
                    pass
        finally:
            link.close()
            await inbound.close()

    async def _exchange(self, inbound: Inbound, link: _Link, writer: asyncio.StreamWriter) -> bool:
        """Pass on one request and its response; returns whether the connection stays open."""
        head, raw, body = await inbound.request()
        self._count += 1
        channel = f"{NAME}/{head.method.lower() or 'odd'}-{self._count}"
        path = urlsplit(head.target).path or "/"
        place = {} if path == (self._parts.path or "/") else {"at": NAME}
        self._recorder.record(Sender.DRIVER, channel, Kind.REQUEST, raw, **place)
        response = _Response(self._recorder, channel, writer)
        work = asyncio.create_task(response.relay(link, head.method, _wire(head, raw, body)))
        gone = asyncio.create_task(inbound.disconnected.wait())
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                self._recorder.record(Sender.DRIVER, channel, Kind.END, clean=False)
                return False
            return work.result() and (head.get("connection") or "").lower() != "close"
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)


class _Link:
    """The connection to the server that belongs to one of the client."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._streams: Upstream | None = None

    async def open(self) -> Upstream:
        """
        Raises:
            Unreachable: the server does not accept it.
        """
        if self._streams is None or self._streams[0].at_eof():
            self.close()
            self._streams = await connect(self._address, PATIENCE)
        return self._streams

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class _Response:
    def __init__(self, recorder: Recorder, channel: str, writer: asyncio.StreamWriter) -> None:
        self._recorder = recorder
        self._channel = channel
        self._writer = writer
        self._head: Head | None = None
        self._blocks: Blocks | None = None
        self._body = bytearray()

    async def relay(self, link: _Link, method: str, data: bytes) -> bool:
        """Send the request and pass on the response; returns whether another can follow."""
        try:
            reader, writer = await link.open()
        except Unreachable as reason:
            self._record(Kind.END, clean=False, problem=str(reason))
            raise
        writer.write(data)
        problem: str | None = None
        async for part in read_response(reader, method):
            match part:
                case HeadRead(raw, head):
                    self._head = head
                    self._blocks = Blocks() if head.media_type == EVENT_STREAM else None
                    self._record(Kind.HEAD, raw)
                    await self._write(raw)
                case PieceRead(data):
                    self._take(data)
                    await self._write(_chunk(data) if self._is_chunked else data)
                case Ended(problem):
                    self._end(problem)
        if problem is None and self._is_chunked and method != "HEAD":
            await self._write(b"0\r\n\r\n")
        return problem is None and self._has_end

    @property
    def _is_chunked(self) -> bool:
        return self._head is not None and "chunked" in (self._head.get("transfer-encoding") or "").lower()

    @property
    def _has_end(self) -> bool:
        """Whether the response ended otherwise than with its connection."""
        head = self._head
        if head is None or (head.get("connection") or "").lower() == "close":
            return False
        return self._is_chunked or head.get("content-length") is not None or head.status in (204, 304)

    def _take(self, data: bytes) -> None:
        if self._blocks is None:
            self._body += data if len(self._body) < MAX_BODY else b""
            return
        for block in self._blocks.feed(data):
            self._record(Kind.EVENT, block)

    def _end(self, problem: str | None) -> None:
        if self._blocks:
            self._record(Kind.EVENT, self._blocks.rest)
        if self._body:
            self._record(Kind.BODY, bytes(self._body))
        self._record(Kind.END, clean=problem is None, problem=problem or "")

    def _record(self, kind: Kind, raw: bytes = b"", **info: Any) -> None:
        self._recorder.record(Sender.SUBJECT, self._channel, kind, raw, **info)

    async def _write(self, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            if not self._writer.is_closing():
                self._writer.write(data)
            await self._writer.drain()


def _wire(head: Head, raw: bytes, body: bytes) -> bytes:
    """The request as the server gets it: chunks were joined when it was read."""
    if "chunked" not in (head.get("transfer-encoding") or "").lower():
        return raw
    return raw.partition(HEAD_END)[0] + HEAD_END + (_chunk(body) if body else b"") + b"0\r\n\r\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n" % len(data) + data + CRLF
