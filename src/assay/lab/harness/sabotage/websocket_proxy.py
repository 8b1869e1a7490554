"""Faults on WebSocket: a proxy in front of a healthy server alters the messages."""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec

from assay.lab.harness.links.broken_off import ConnectionRejected
from assay.lab.harness.links.http_text import HEAD_END, parse_head
from assay.lab.harness.links.websocket import SUBPROTOCOL, accept_headers
from assay.lab.harness.trace.recorder import MAX_BYTES
from assay.protocol.framing import websocket as ws

from .alteration import Alteration
from .local_server import LocalServer, send_head
from .saboteur import FaultContext, Request, Saboteur
from .websocket_wire import WebSocketWire
from .wire import FaultyWire

PIECE: Final = 64 * 1024


class WebSocketProxy(LocalServer):
    def __init__(self, saboteur: Saboteur, context: FaultContext, upstream: str) -> None:
        super().__init__("ws", "/mcp")
        self._saboteur = saboteur
        self._context = context
        self._upstream = upstream

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = parse_head(await reader.readuntil(HEAD_END))
        upgrade = Request(list(head.headers), head.method, head.target)
        response = self._saboteur.call(upgrade, self._context) if self._saboteur.call is not None else None
        if response is not None:
            return send_head(writer, response)
        try:
            inner = await WebSocketWire.open(self._upstream, _credentials(upgrade))
        except ConnectionRejected as refused:
            writer.write(refused.head)
            return None
        writer.write(_switching(head.get("sec-websocket-key") or ""))
        return await self._relay(inner, reader, writer)

    async def terminate(self) -> None:
        if self._saboteur.ignores_termination:
            await asyncio.Event().wait()
        await super().terminate()

    async def _relay(
        self, inner: WebSocketWire, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        context = msgspec.structs.replace(self._context, memory={})
        wire = FaultyWire(inner, Alteration(self._saboteur, context))
        replying = asyncio.create_task(_relay_replies(wire, writer))
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
            replying.cancel()
            await asyncio.gather(replying, return_exceptions=True)
            await wire.stop()


async def _relay_replies(wire: FaultyWire, writer: asyncio.StreamWriter) -> None:
    while line := await wire.read():
        writer.write(ws.frame(ws.TEXT, line.rstrip(b"\n")))
        await writer.drain()


def _credentials(upgrade: Request) -> dict[str, str]:
    """The driver's token, which a fault may have changed, for the healthy server."""
    return {name: value for name, value in upgrade.headers if name.lower() == "authorization"}


def _switching(key: str) -> bytes:
    headers = [f"{name}: {value}" for name, value in accept_headers(key, SUBPROTOCOL)]
    return "\r\n".join(("HTTP/1.1 101 Switching Protocols", *headers)).encode() + HEAD_END
