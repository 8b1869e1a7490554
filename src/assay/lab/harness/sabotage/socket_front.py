"""Faults on a WebSocket: a server in front of a healthy one, which changes the messages on their way."""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec

from assay.lab.harness.links.broken_off import TurnedAway
from assay.lab.harness.links.http_text import HEAD_END, parse_head
from assay.lab.harness.links.websocket_accept import SUBPROTOCOL, accept_headers
from assay.lab.harness.trace.recorder import MAX_BYTES
from assay.protocol.framing import websocket as ws

from .alteration import Alteration
from .front import send_head
from .listener import LocalServer
from .saboteur import FaultContext, Request, Saboteur
from .socket_wire import SocketWire
from .wire import LayeredWire

PIECE: Final = 64 * 1024


class SocketFront(LocalServer):
    def __init__(self, saboteur: Saboteur, context: FaultContext, healthy: str) -> None:
        super().__init__("ws", "/mcp")
        self._saboteur = saboteur
        self._turn = context
        self._healthy = healthy

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = parse_head(await reader.readuntil(HEAD_END))
        upgrade = Request(list(head.headers), head.method, head.target)
        refusal = self._saboteur.call(upgrade, self._turn) if self._saboteur.call is not None else None
        if refusal is not None:
            return send_head(writer, refusal)
        try:
            inner = await SocketWire.open(self._healthy, _credentials(upgrade))
        except TurnedAway as refused:
            writer.write(refused.head)
            return None
        writer.write(_switching(head.get("sec-websocket-key") or ""))
        return await self._converse(inner, reader, writer)

    async def _converse(
        self, inner: SocketWire, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        context = msgspec.structs.replace(self._turn, memory={})
        wire = LayeredWire(inner, Alteration(self._saboteur, context))
        telling = asyncio.create_task(_tell(wire, writer))
        try:
            messages = ws.MessageReader(MAX_BYTES, masked=True)
            while data := await reader.read(PIECE):
                for received in messages.feed(data):
                    if isinstance(received, ws.Close | ws.Violation):
                        writer.write(ws.close_frame())
                        return
                    if isinstance(received, str):
                        await wire.write(received.replace("\n", " ").encode() + b"\n")
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
            await wire.stop()


async def _tell(wire: LayeredWire, writer: asyncio.StreamWriter) -> None:
    while line := await wire.read():
        writer.write(ws.frame(ws.TEXT, line.rstrip(b"\n")))
        await writer.drain()


def _credentials(upgrade: Request) -> dict[str, str]:
    """What the driver shows, and a fault may have changed, is shown to the healthy server."""
    return {name: value for name, value in upgrade.headers if name.lower() == "authorization"}


def _switching(key: str) -> bytes:
    headers = [f"{name}: {value}" for name, value in accept_headers(key, SUBPROTOCOL)]
    return "\r\n".join(("HTTP/1.1 101 Switching Protocols", *headers)).encode() + HEAD_END
