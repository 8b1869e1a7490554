"""The scripted server's WebSocket endpoint: each text frame is a message."""

from __future__ import annotations

from itertools import count

from assay.lab.harness.links.websocket_accept import SUBPROTOCOL, accept_headers
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.recorder import MAX_BYTES
from assay.protocol.framing import websocket as ws

from .http_reply import HttpReply
from .http_server import Asked
from .listener import Listener
from .ordered_channel import LineChannel, MessageDispatcher
from .server import ScriptedServer


class WebSocketListener(Listener):
    def __init__(self, host: ScriptedServer, path: str) -> None:
        super().__init__(host, path, name="http")
        self._names = count(1)

    @property
    def url(self) -> str:
        return f"ws://{self.origin.removeprefix('http://')}{self._path}"

    async def answer(self, asked: Asked, reply: HttpReply) -> None:
        key = asked.header("sec-websocket-key")
        if self.is_other_path(asked) or key is None:
            return await reply.whole(404 if key else 426)
        await reply.switch(accept_headers(key, *_subprotocol(asked.header("sec-websocket-protocol"))))
        return await self._serve_messages(asked, reply)

    async def _serve_messages(self, asked: Asked, reply: HttpReply) -> None:
        name = str(next(self._names))
        place = f"{name}/ws"
        record = self._host.recorder.record

        async def write(body: bytes) -> None:
            record(Sender.DRIVER, place, Kind.TEXT, body)
            await reply.write(ws.text_frame(body))

        channel = LineChannel(name, write, reply.write, reply.cut)
        dispatcher = MessageDispatcher(self._host, channel)
        messages = ws.MessageReader(MAX_BYTES, masked=True)
        try:
            while data := await asked.connection.some():
                for received in messages.feed(data):
                    if isinstance(received, str):
                        record(Sender.SUBJECT, place, Kind.TEXT, received.encode())
                        dispatcher.dispatch(received.encode())
                    elif isinstance(received, ws.Ping):
                        await reply.write(ws.frame(ws.PONG, received.payload))
                    elif isinstance(received, ws.Close | ws.Violation):
                        record(Sender.SUBJECT, place, Kind.CONTROL, info=str(received))
                        await reply.write(ws.close_frame())
                        return
                    elif isinstance(received, bytes):
                        record(Sender.SUBJECT, place, Kind.BINARY, received)
        finally:
            await dispatcher.end()
            record(Sender.SUBJECT, place, Kind.END, clean=True)
            reply.cut()


def _subprotocol(offered: str | None) -> list[str]:
    return [SUBPROTOCOL] if SUBPROTOCOL in [name.strip() for name in (offered or "").split(",")] else []
