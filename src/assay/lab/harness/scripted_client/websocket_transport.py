"""The client's WebSocket transport: each text frame is a message."""

from __future__ import annotations

import asyncio
import os
from base64 import b64encode
from typing import TYPE_CHECKING, Any, Final

from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.links.http_call import PIECE, Address, HeadRead, connect, read_response
from assay.lab.harness.links.http_text import write_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.trace.recorder import MAX_BYTES
from assay.protocol.framing import websocket as ws

from .failure import ConnectionBroken
from .transport import PendingCall, PendingCalls

if TYPE_CHECKING:
    from .client import ScriptedClient

PATIENCE: Final = 5.0
GRACE: Final = 1.0
"""Seconds to wait for the server's close frame."""


class WebSocketClientTransport:
    def __init__(self, client: ScriptedClient) -> None:
        self.client = client
        self._writer: asyncio.StreamWriter | None = None
        self._pending = PendingCalls()
        self._reading: asyncio.Task[None] | None = None

    async def open(self) -> None:
        await self.close()
        address = Address.of(self.client.setup.url)
        request = self._upgrade(address)
        try:
            reader, self._writer = await connect(address, PATIENCE)
        except Unreachable as reason:
            raise ConnectionBroken(str(reason)) from None
        self._writer.write(write_request("GET", address.target, request.headers))
        async for part in read_response(reader, "HEAD", upgrade=True):
            if not isinstance(part, HeadRead) or part.head.status != 101:
                raise ConnectionBroken("the server did not upgrade to WebSocket")
            break
        self._reading = asyncio.create_task(self._read(reader))

    def _upgrade(self, address: Address) -> Request:
        key = b64encode(os.urandom(16)).decode()
        headers = {
            "Host": address.authority,
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": key,
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Protocol": "mcp",
        }
        request = Request(headers=list(headers.items()), method="GET", target=address.target)
        self.client.add_credentials(request)
        hook = self.client.saboteur.request if self.client.saboteur else None
        return (hook(request, self.client) if hook else None) or request

    async def opened(self) -> None: ...

    async def send(self, body: bytes, message: Any, call: PendingCall | None) -> None:
        self._pending.add(call)
        await self.write(ws.frame(ws.TEXT, body, mask=os.urandom(4)))

    async def write(self, data: bytes) -> None:
        """Write raw bytes, which a saboteur may use instead of a valid frame."""
        if self._writer is None or self._reading is None or self._reading.done():
            raise ConnectionBroken("the server closed the WebSocket")
        try:
            self._writer.write(data)
            await self._writer.drain()
        except (ConnectionError, RuntimeError):
            raise ConnectionBroken("the server closed the WebSocket") from None

    async def _read(self, reader: asyncio.StreamReader) -> None:
        messages = ws.MessageReader(MAX_BYTES, masked=False)
        try:
            while data := await reader.read(PIECE):
                for received in messages.feed(data):
                    if isinstance(received, str):
                        self.client.receive(received.encode())
                    elif isinstance(received, ws.Ping):
                        self._control(ws.frame(ws.PONG, received.payload, mask=os.urandom(4)))
                    elif isinstance(received, ws.Close | ws.Violation):
                        self._control(ws.close_frame(mask=os.urandom(4)))
                        return
        except OSError:
            pass  # handled like an orderly close
        finally:
            self._pending.fail("the server closed the WebSocket")
            if self._writer is not None:
                self.client.lost()

    def _control(self, data: bytes) -> None:
        if self._writer is not None:
            self._writer.write(data)

    async def close(self) -> None:
        if self._writer is None:
            return
        writer, self._writer = self._writer, None
        if self._reading is not None:
            if not self._reading.done():
                writer.write(ws.close_frame(mask=os.urandom(4)))
                await asyncio.wait({self._reading}, timeout=GRACE)
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        writer.close()
