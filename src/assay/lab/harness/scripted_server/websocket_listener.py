"""The scripted server's WebSocket endpoint: each text frame is a message."""

from __future__ import annotations

from itertools import count

from assay.lab.harness.links.websocket import SUBPROTOCOL, accept_headers
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.recorder import MAX_BYTES
from assay.protocol.framing import websocket as ws

from .http_reply import HttpReply
from .http_server import InboundRequest
from .listener import Listener
from .ordered_channel import DuplexChannel, MessageDispatcher
from .server import ScriptedServer


class WebSocketListener(Listener):
    def __init__(self, server: ScriptedServer, path: str) -> None:
        super().__init__(server, path, name="http")
        self._names = count(1)

    @property
    def url(self) -> str:
        return f"ws://{self.origin.removeprefix('http://')}{self._path}"

    async def answer(self, request: InboundRequest, reply: HttpReply) -> None:
        key = request.header("sec-websocket-key")
        if self.is_other_path(request) or key is None:
            return await reply.respond(404 if key else 426)
        await reply.switch(accept_headers(key, *_subprotocol(request.header("sec-websocket-protocol"))))
        return await self._serve_messages(request, reply)

    async def _serve_messages(self, request: InboundRequest, reply: HttpReply) -> None:
        name = str(next(self._names))
        place = f"{name}/ws"
        record = self._server.recorder.record

        async def write(body: bytes) -> None:
            record(Sender.DRIVER, place, Kind.TEXT, body)
            await reply.write(ws.text_frame(body))

        channel = DuplexChannel(name, write, reply.write, reply.cut)
        dispatcher = MessageDispatcher(self._server, channel)
        messages = ws.MessageReader(MAX_BYTES, masked=True)
        try:
            while data := await request.connection.some():
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
