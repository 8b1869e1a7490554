"""Faults on HTTP: a server of its own in front of a healthy one, which changes what passes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from assay.lab.harness.links.event_stream import Blocks
from assay.lab.harness.links.http_call import Address, Ended, HeadRead, PieceRead, connect, read_response
from assay.lab.harness.links.http_text import EVENT_STREAM, JSON, Head, write_request
from assay.lab.harness.links.identity import ANYBODY, Identity
from assay.protocol.framing.sse import SseParser

from .alteration import Alteration, bodies, decoded
from .front import Front, send_head, send_whole
from .saboteur import Answered, FaultContext, Request, Response, Saboteur

if TYPE_CHECKING:
    from .certificate_server import TestCA

PATIENCE = 10.0
# What belongs to one connection and not to the message: the other connection gets its own.
_HOP = frozenset({"connection", "transfer-encoding", "content-length", "keep-alive"})


class Proxy(Front):
    def __init__(
        self, saboteur: Saboteur, turn: FaultContext, upstream: str, office: TestCA | None = None
    ) -> None:
        """With an office, certificates are shown on both sides."""
        self._saboteur = saboteur
        self._turn = turn
        self._upstream = _Upstream(Address.of(upstream), ANYBODY if office is None else office.identity)
        context = None if office is None else office.meeting()
        if context is not None and saboteur.handshake is not None:
            saboteur.handshake(context)
        super().__init__(self._upstream.address.target, context)

    async def serve(self, request: Request, writer: asyncio.StreamWriter) -> None:
        await _Exchange(self._saboteur, self._turn, self._upstream, writer).serve(request)


class _Upstream(NamedTuple):
    address: Address
    identity: Identity


class _Exchange:
    """One request on its way to the healthy server, and the response on its way back."""

    def __init__(
        self, saboteur: Saboteur, turn: FaultContext, upstream: _Upstream, writer: asyncio.StreamWriter
    ) -> None:
        self._saboteur = saboteur
        self._turn = msgspec.structs.replace(turn)
        self._altering = Alteration(saboteur, self._turn)
        self._upstream = upstream
        self._writer = writer

    async def serve(self, request: Request) -> None:
        message = decoded(request.body)
        self._turn.asked = message if isinstance(message, dict) else None
        self._turn.call = request
        answer = self._saboteur.call(request, self._turn) if self._saboteur.call else None
        if answer is not None:
            return await send_whole(self._writer, answer, answer.body or b"")
        asked = self._altering.asked(request.body)
        if isinstance(asked, Answered):
            return await self._send_answers(asked)
        request.body = asked
        await self._forward(request)

    async def _send_answers(self, answered: Answered) -> None:
        usual = 200 if answered.messages else 202
        response = Response([("Content-Type", JSON)], answered.status or usual)
        await self._send_messages(response, bodies(answered.messages))

    async def _send_messages(self, response: Response, found: list[bytes]) -> None:
        """One body is the response; several make an event stream, as a server may choose."""
        if len(found) > 1:
            response.set("Content-Type", EVENT_STREAM)
            found = [as_event(body) for body in found]
        await send_whole(self._writer, response, b"".join(found))

    async def _forward(self, request: Request) -> None:
        reader, writer = await connect(self._upstream.address, PATIENCE, self._upstream.identity)
        try:
            kept = [(name, value) for name, value in request.headers if name.lower() not in _HOP]
            own = [("Connection", "close"), ("Content-Length", str(len(request.body)))]
            writer.write(write_request(request.method, request.target, [*kept, *own], request.body))
            await self._relay(reader, request.method)
        finally:
            writer.close()

    async def _relay(self, reader: asyncio.StreamReader, method: str) -> None:
        response: Response | None = None
        body = b""
        blocks: Blocks | None = None
        async for part in read_response(reader, method):
            match part:
                case HeadRead(_, head):
                    response = self._changed(head)
                    if response.body is None and head.media_type == EVENT_STREAM:
                        blocks = Blocks()
                        self._turn.streams = True
                        send_head(self._writer, response)
                case PieceRead(data) if blocks is not None:
                    for block in blocks.feed(data):
                        await self._send_block(block)
                case PieceRead(data):
                    body += data
                case Ended() if blocks is None and response is not None:
                    await self._send_body(response, body)
        if response is not None and response.lingers:
            await asyncio.Event().wait()  # until the driver hangs up

    def _changed(self, head: Head) -> Response:
        kept = [(name, value) for name, value in head.headers if name.lower() not in _HOP]
        response = Response(kept, head.status)
        if self._saboteur.response is not None:
            self._saboteur.response(response, self._turn)
        return response

    async def _send_body(self, response: Response, body: bytes) -> None:
        if response.body is None and "json" in (response.header("content-type") or "") and body:
            return await self._send_messages(response, self._altering.answered(body))
        await send_whole(self._writer, response, body if response.body is None else response.body)

    async def _send_block(self, block: bytes) -> None:
        changed = b"".join(self._rewritten(block))
        if self._saboteur.block is not None:
            changed = self._saboteur.block(changed, self._turn)
        self._writer.write(changed)
        await self._writer.drain()

    def _rewritten(self, block: bytes) -> list[bytes]:
        events = SseParser(len(block) + 1).feed(block)
        if self._saboteur.reply is None or not events or not events[0].data:
            return [block]
        (event,) = events
        name = b"" if event.event_id is None else b"id: %b\n" % event.event_id.encode()
        return [name + as_event(body) for body in self._altering.answered(event.data)]


def as_event(body: bytes) -> bytes:
    return b"event: message\ndata: %b\n\n" % body.replace(b"\n", b"\ndata: ")
