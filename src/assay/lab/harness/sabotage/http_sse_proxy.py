"""Faults on HTTP+SSE: a proxy with the two endpoints of the first revision.

It forwards the messages of each stream to a healthy server through a WebSocket connection.
"""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec

from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.links.http_text import EVENT_STREAM

from .alteration import Alteration, decode
from .local_server import ProxyServer, send_head, send_whole
from .saboteur import FaultContext, Request, Response, Saboteur
from .websocket_wire import WebSocketWire
from .wire import FaultyWire

STREAM: Final = "/sse"
MESSAGES: Final = "/messages?conversation="


class HttpSseProxy(ProxyServer):
    def __init__(self, saboteur: Saboteur, context: FaultContext, upstream: str) -> None:
        """`upstream` is a WebSocket URL."""
        super().__init__(STREAM)
        self._saboteur = saboteur
        self._context = context
        self._upstream = upstream
        self._wires: list[FaultyWire] = []

    async def stop(self) -> None:
        await super().stop()
        for wire in self._wires:
            await wire.stop()  # in case the task of its stream was cancelled first

    async def serve(self, request: Request, writer: asyncio.StreamWriter) -> None:
        message = decode(request.body)
        context = msgspec.structs.replace(
            self._context, request=message if isinstance(message, dict) else None, call=request
        )
        hook = self._saboteur.call
        response = (None if hook is None else hook(request, context)) or _refusal(request)
        if response is None and request.method == "GET":
            return await self._stream(context, writer)
        response = response or await self._post(request)
        return await send_whole(writer, response, response.body or b"")

    async def _stream(self, context: FaultContext, writer: asyncio.StreamWriter) -> None:
        wire = FaultyWire(await WebSocketWire.open(self._upstream), Alteration(self._saboteur, context))
        self._wires.append(wire)
        response = Response([("Content-Type", EVENT_STREAM)], 200)
        if self._saboteur.response is not None:
            self._saboteur.response(response, context)
        try:
            send_head(writer, response)
            address = f"{MESSAGES}{len(self._wires)}".encode()
            await self._send(b"event: endpoint\ndata: %b\n\n" % address, context, writer)
            while line := await wire.read():
                await self._send(b"event: message\ndata: %b\n\n" % line.rstrip(b"\n"), context, writer)
        finally:
            await wire.stop()

    async def _send(self, block: bytes, context: FaultContext, writer: asyncio.StreamWriter) -> None:
        writer.write(block if self._saboteur.block is None else self._saboteur.block(block, context))
        await writer.drain()

    async def _post(self, request: Request) -> Response:
        path, _, number = request.target.partition("=")
        if request.method != "POST" or f"{path}=" != MESSAGES or not number.isdecimal():
            return Response([], 404)
        if not 0 < int(number) <= len(self._wires):
            return Response([], 404)
        if decode(request.body) is None:
            return Response([], 400)  # invalid UTF-8 would end the WebSocket connection
        await self._wires[int(number) - 1].write(request.body.replace(b"\n", b" ") + b"\n")
        return Response([("Content-Type", "text/plain")], 202, b"Accepted")


def _refusal(request: Request) -> Response | None:
    origin = request.header("origin")
    if not is_local(request.header("host") or ""):
        return Response([], 421)
    return None if origin is None or is_local(origin.partition("://")[2]) else Response([], 403)
