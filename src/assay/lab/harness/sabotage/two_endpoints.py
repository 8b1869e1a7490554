"""Faults on HTTP+SSE: the two endpoints of the first revision, put before a healthy server.

A message is a message on any transport: each stream is a conversation of its own by WebSocket.
"""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec

from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.links.http_text import EVENT_STREAM

from .alteration import Alteration, decoded
from .front import Front, send_head, send_whole
from .saboteur import FaultContext, Request, Response, Saboteur
from .socket_wire import SocketWire
from .wire import LayeredWire

STREAM: Final = "/sse"
MESSAGES: Final = "/messages?conversation="


class TwoEndpoints(Front):
    def __init__(self, saboteur: Saboteur, context: FaultContext, healthy: str) -> None:
        """`healthy` is the URL of a server on a WebSocket."""
        super().__init__(STREAM)
        self._saboteur = saboteur
        self._turn = context
        self._healthy = healthy
        self._wires: list[LayeredWire] = []

    async def stop(self) -> None:
        await super().stop()
        for wire in self._wires:
            await wire.stop()  # a stream may have been stopped before it could do that

    async def serve(self, request: Request, writer: asyncio.StreamWriter) -> None:
        message = decoded(request.body)
        asked = message if isinstance(message, dict) else None
        context = msgspec.structs.replace(self._turn, asked=asked, call=request)
        given = self._saboteur.call(request, context) if self._saboteur.call is not None else None
        answer = given or _refusal(request)
        if answer is None and request.method == "GET":
            return await self._follow(context, writer)
        answer = answer or await self._take(request)
        return await send_whole(writer, answer, answer.body or b"")

    async def _follow(self, context: FaultContext, writer: asyncio.StreamWriter) -> None:
        wire = LayeredWire(await SocketWire.open(self._healthy), Alteration(self._saboteur, context))
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

    async def _take(self, request: Request) -> Response:
        path, _, number = request.target.partition("=")
        if request.method != "POST" or f"{path}=" != MESSAGES or not number.isdecimal():
            return Response([], 404)
        if not 0 < int(number) <= len(self._wires):
            return Response([], 404)
        if decoded(request.body) is None:
            return Response([], 400)  # what is no JSON may be no text either, and would end a WebSocket
        await self._wires[int(number) - 1].write(request.body.replace(b"\n", b" ") + b"\n")
        return Response([("Content-Type", "text/plain")], 202, b"Accepted")


def _refusal(request: Request) -> Response | None:
    origin = request.header("origin")
    if not is_local(request.header("host") or ""):
        return Response([], 421)
    return None if origin is None or is_local(origin.partition("://")[2]) else Response([], 403)
