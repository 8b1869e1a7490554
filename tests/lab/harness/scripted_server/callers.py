"""Clients of a few lines, and a host for them."""

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


class Hosted(Struct, frozen=True):
    hosting: ClientStage
    recorder: Recorder
    callers: list[Caller]

    async def call(self, origin: str = "", host: str = "127.0.0.1") -> Caller:
        """A connection that ends with the host."""
        self.callers.append(await Caller.to(origin or self.hosting.origin, host))
        return self.callers[-1]

    def frames(self, channel: str) -> list[tuple[Sender, Kind]]:
        """Who sent what on a channel."""
        frames = self.recorder.trace(closed=True).frames
        return [(one.sender, one.kind) for one in frames if one.channel == channel]

    def labels(self, channel: str) -> list[str]:
        frames = self.recorder.trace(closed=True).frames
        return [one.info["label"] for one in frames if one.channel == channel and one.kind is Kind.MARK]


@asynccontextmanager
async def hosted(
    transport: Transport = Transport.HTTP, revision: Revision = HANDSHAKE[-1], path: str = "/mcp"
) -> AsyncIterator[Hosted]:
    recorder = Recorder(Header(revision.date, transport, "test", "test", role="client"))
    hosting = ClientStage(recorder, revision, transport, path)
    callers: list[Caller] = []
    await hosting.open()
    try:
        yield Hosted(hosting, recorder, callers)
    finally:
        for caller in callers:
            await caller.close()
        await hosting.close()


class Answered(Struct, frozen=True):
    head: Head
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Caller:
    """One TCP connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        self.reader = reader
        self.writer = writer
        self._port = port

    @classmethod
    async def to(cls, origin: str, host: str = "127.0.0.1") -> Caller:
        port = int(origin.rpartition(":")[2].partition("/")[0])
        return cls(*await asyncio.open_connection(host, port), port)

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answered:
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

    async def answer(self) -> Answered:
        head = await self.head()
        async with asyncio.timeout(PATIENCE):
            if (head.get("transfer-encoding") or "") == "chunked":
                return Answered(head, b"".join([one async for one in self.chunks()]))
            return Answered(head, await self.reader.readexactly(int(head.get("content-length") or 0)))

    async def chunks(self) -> AsyncIterator[bytes]:
        while size := int(await self.reader.readline(), 16):
            yield (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readline()

    async def is_cut(self) -> bool:
        """Whether the other side hangs up."""
        async with asyncio.timeout(PATIENCE):
            return await self.reader.read() == b""

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


def message(method: str, number: Any = None, **params: Any) -> bytes:
    about = {"jsonrpc": "2.0", "method": method} | ({} if number is None else {"id": number})
    return json.dumps({**about, "params": params}).encode()


def data_of(stream: bytes) -> list[Any]:
    """The messages of an event stream."""
    lines = stream.decode().splitlines()
    return [json.loads(line[5:]) for line in lines if line.startswith("data:") and line[5:].strip()]
