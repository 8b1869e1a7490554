"""WebSocket, from the host's side: one message a text frame."""

from __future__ import annotations

from itertools import count

from assay.lab.harness.links.websocket_accept import SUBPROTOCOL, accept_headers
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.recorder import MAX_BYTES
from assay.protocol.framing import websocket as ws

from .http_reply import HttpReply
from .http_server import Asked
from .listener import Listener
from .ordered_channel import Conversing, LineChannel
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
        if self.leads_elsewhere(asked) or key is None:
            return await reply.whole(404 if key else 426)
        await reply.switch(accept_headers(key, *_chosen(asked.header("sec-websocket-protocol"))))
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
            await talk.end()
            record(Sender.SUBJECT, place, Kind.END, clean=True)
            reply.cut()


def _chosen(offered: str | None) -> list[str]:
    return [SUBPROTOCOL] if SUBPROTOCOL in [one.strip() for one in (offered or "").split(",")] else []
