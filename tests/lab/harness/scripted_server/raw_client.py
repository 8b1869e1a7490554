"""A stage, and a client that speaks HTTP on a plain socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from msgspec import Struct

from assay.lab.harness.links.http_text import Head, parse_head
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Header, Kind, Sender
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.transport import Transport
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision

PATIENCE = 10.0


class RunningStage(Struct, frozen=True):
    stage: ClientStage
    recorder: Recorder
    clients: list[RawClient]

    async def connect(self, origin: str = "", host: str = "127.0.0.1") -> RawClient:
        """A connection that is closed with the stage."""
        self.clients.append(await RawClient.to(origin or self.stage.origin, host))
        return self.clients[-1]

    def frames(self, channel: str) -> list[tuple[Sender, Kind]]:
        """The sender and kind of each frame on a channel."""
        frames = self.recorder.trace(closed=True).frames
        return [(frame.sender, frame.kind) for frame in frames if frame.channel == channel]

    def labels(self, channel: str) -> list[str]:
        marks = [frame for frame in self.recorder.trace(closed=True).frames if frame.kind is Kind.MARK]
        return [mark.info["label"] for mark in marks if mark.channel == channel]


@asynccontextmanager
async def open_stage(
    transport: Transport = Transport.HTTP, revision: Revision = HANDSHAKE[-1], path: str = "/mcp"
) -> AsyncIterator[RunningStage]:
    recorder = Recorder(Header(revision.date, transport, "test", "test", role="client"))
    stage = ClientStage(recorder, revision, transport, path)
    clients: list[RawClient] = []
    await stage.open()
    try:
        yield RunningStage(stage, recorder, clients)
    finally:
        for client in clients:
            await client.close()
        await stage.close()


class RawResponse(Struct, frozen=True):
    head: Head
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class RawClient:
    """A TCP connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        self.reader = reader
        self.writer = writer
        self._port = port

    @classmethod
    async def to(cls, origin: str, host: str = "127.0.0.1") -> RawClient:
        port = int(origin.rpartition(":")[2].partition("/")[0])
        return cls(*await asyncio.open_connection(host, port), port)

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> RawResponse:
        self.send(method, path, body, **headers)
        return await self.answer()

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> None:
        lines = [f"{method} {path} HTTP/1.1", f"Host: localhost:{self._port}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        if "Transfer_Encoding" not in headers:
            lines.append(f"Content-Length: {len(body)}")
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    async def head(self) -> Head:
        async with asyncio.timeout(PATIENCE):
            return parse_head(await self.reader.readuntil(b"\r\n\r\n"))

    async def answer(self) -> RawResponse:
        head = await self.head()
        async with asyncio.timeout(PATIENCE):
            if (head.get("transfer-encoding") or "") == "chunked":
                return RawResponse(head, b"".join([chunk async for chunk in self.chunks()]))
            return RawResponse(head, await self.reader.readexactly(int(head.get("content-length") or 0)))

    async def chunks(self) -> AsyncIterator[bytes]:
        while size := int(await self.reader.readline(), 16):
            yield (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readline()

    async def is_cut(self) -> bool:
        """Whether the server closes the connection."""
        async with asyncio.timeout(PATIENCE):
            return await self.reader.read() == b""

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


def message(method: str, number: Any = None, **params: Any) -> bytes:
    envelope = {"jsonrpc": "2.0", "method": method} | ({} if number is None else {"id": number})
    return json.dumps({**envelope, "params": params}).encode()


def data_of(stream: bytes) -> list[Any]:
    """The messages of an event stream."""
    lines = stream.decode().splitlines()
    return [json.loads(line[5:]) for line in lines if line.startswith("data:") and line[5:].strip()]
