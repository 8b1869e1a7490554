"""A WebSocket client on a raw socket, which can send any bytes and disconnect in any way."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from typing import Any, Self

from assay.protocol.framing.websocket import TEXT, Close, MessageReader, WebSocketEvent, frame
from tests.driving.answer import PATIENCE

MASK = b"\x10\x20\x30\x40"
UPGRADE = (
    b"GET /mcp/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


class RawSocket:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer
        self._frames = MessageReader(1 << 23, masked=False)
        self._received: list[WebSocketEvent] = []

    @classmethod
    async def open(cls, port: int, window: int | None = None) -> Self:
        """`window` is the size of the receive buffer in the kernel."""
        bare = socket.socket()
        bare.setblocking(False)
        if window is not None:
            bare.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        await asyncio.get_running_loop().sock_connect(bare, ("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=bare)
        writer.write(UPGRADE)
        assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
        return cls(reader, writer)

    def write(self, data: bytes) -> None:
        self.writer.write(data)

    def send(self, message: Any) -> None:
        self.write(frame(TEXT, json.dumps(message).encode(), mask=MASK))

    async def receive(self) -> WebSocketEvent:
        """The next message or control frame."""
        async with asyncio.timeout(PATIENCE):
            while not self._received:
                data = await self._reader.read(65536)
                assert data, "the server hung up"
                self._received += self._frames.feed(data)
        return self._received.pop(0)

    async def ask(self, message: Any) -> Any:
        self.send(message)
        return await self.reply()

    async def reply(self) -> Any:
        received = await self.receive()
        assert isinstance(received, str), received
        return json.loads(received)

    async def closed(self) -> Close:
        received = await self.receive()
        assert isinstance(received, Close), received
        return received

    async def gone(self) -> None:
        self.writer.close()
        # Ignore errors: the server may have reset the connection.
        await asyncio.wait([asyncio.ensure_future(self.writer.wait_closed())])

    async def reset(self) -> None:
        """Reset the connection, which is what closing with this option does."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await self.gone()
