"""WebSocket, from the host's side: one message a text frame."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha1
from itertools import count
from typing import Final

from assay.lab.harness.frame import Kind, Sender
from assay.lab.harness.recorder import MAX_BYTES
from assay.protocol.framing import websocket as ws

from .conversing import Conversing, LineChannel
from .host import Host
from .http_reply import HttpReply
from .http_server import Asked, HttpServer

MAGIC: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
SUBPROTOCOL: Final = "mcp"


class SocketDoor:
    def __init__(self, host: Host, path: str) -> None:
        self._host = host
        self._path = path
        self.server = HttpServer(host.recorder, self._serve, name="http")
        self._names = count(1)

    @property
    def origin(self) -> str:
        return self.server.origin

    @property
    def url(self) -> str:
        return f"ws://{self.origin.removeprefix('http://')}{self._path}"

    async def start(self) -> None:
        await self.server.start()

    async def stop(self) -> None:
        await self.server.stop()

    async def _serve(self, asked: Asked, reply: HttpReply) -> None:
        for hook in self._host.hooks:
            if await hook(asked, reply):
                return
        key = asked.header("sec-websocket-key")
        if asked.path != (self._path or "/") or key is None:
            return await reply.whole(404 if key else 426)
        await reply.switch(_accepting(key, asked.header("sec-websocket-protocol")))
        return await self._converse(asked, reply)

    async def _converse(self, asked: Asked, reply: HttpReply) -> None:
        name = str(next(self._names))
        place = f"{name}/ws"
        record = self._host.recorder.record

        async def write(body: bytes) -> None:
            record(Sender.DRIVER, place, Kind.TEXT, body)
            await reply.write(ws.text_frame(body))

        channel = LineChannel(name, write, reply.write, reply.cut)
        talk = Conversing(self._host, channel)
        messages = ws.MessageReader(MAX_BYTES, masked=True)
        try:
            while data := await asked.connection.some():
                for received in messages.feed(data):
                    if isinstance(received, str):
                        record(Sender.SUBJECT, place, Kind.TEXT, received.encode())
                        talk.take(received.encode())
                    elif isinstance(received, ws.Ping):
                        await reply.write(ws.frame(ws.PONG, received.payload))
                    elif isinstance(received, ws.Close | ws.Violation):
                        record(Sender.SUBJECT, place, Kind.CONTROL, info=str(received))
                        await reply.write(ws.close_frame())
                        return
                    elif isinstance(received, bytes):
                        record(Sender.SUBJECT, place, Kind.BINARY, received)
        finally:
            record(Sender.SUBJECT, place, Kind.END, clean=True)
            await talk.end()
            reply.cut()


def _accepting(key: str, offered: str | None) -> list[tuple[str, str]]:
    accepted = b64encode(sha1(key.encode() + MAGIC).digest()).decode()
    wants = SUBPROTOCOL in [one.strip() for one in (offered or "").split(",")]
    chosen = [("Sec-WebSocket-Protocol", SUBPROTOCOL)] if wants else []
    return [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accepted), *chosen]
