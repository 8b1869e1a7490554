"""Faults on HTTP: a proxy in front of a healthy server alters requests and responses."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from assay.lab.harness.links.http_call import Address, Ended, HeadRead, PieceRead, connect, read_response
from assay.lab.harness.links.http_text import EVENT_STREAM, JSON, Head, write_request
from assay.lab.harness.links.identity import DEFAULT_IDENTITY, Identity
from assay.lab.harness.links.split import Blocks
from assay.protocol.framing.sse import SseParser

from .alteration import Alteration, bodies, decode
from .local_server import ProxyServer, send_head, send_whole
from .saboteur import DISCONNECTED, FaultContext, LocalAnswer, Request, Response, Saboteur

if TYPE_CHECKING:
    from .certificate_authority import TestCA

PATIENCE = 10.0
# Hop-by-hop headers (RFC 9110, section 7.6.1) and the length, which a fault may change.
_HOP = frozenset({"connection", "transfer-encoding", "content-length", "keep-alive"})


class HttpProxy(ProxyServer):
    def __init__(
        self, saboteur: Saboteur, context: FaultContext, upstream: str, test_ca: TestCA | None = None
    ) -> None:
        """With a CA, both connections use TLS with client certificates."""
        self._saboteur = saboteur
        self._context = context
        self._upstream = _Upstream(
            Address.of(upstream), DEFAULT_IDENTITY if test_ca is None else test_ca.identity
        )
        tls = None if test_ca is None else test_ca.server_context()
        if tls is not None and saboteur.handshake is not None:
            saboteur.handshake(tls)
        self._open: set[_Exchange] = set()
        super().__init__(self._upstream.address.target, tls)

    async def serve(self, request: Request, writer: asyncio.StreamWriter) -> None:
        exchange = _Exchange(self._saboteur, self._context, self._upstream, writer)
        self._open.add(exchange)
        try:
            await exchange.serve(request)
        except asyncio.CancelledError:
            self._context.shared[DISCONNECTED] = True
            raise
        finally:
            self._open.discard(exchange)

    async def terminate(self) -> None:
        if self._saboteur.ignores_termination:
            await asyncio.Event().wait()
        for exchange in list(self._open):
            await exchange.terminate()
        await super().terminate()


class _Upstream(NamedTuple):
    address: Address
    identity: Identity


class _Exchange:
    """A request to the healthy server and its response."""

    def __init__(
        self, saboteur: Saboteur, context: FaultContext, upstream: _Upstream, writer: asyncio.StreamWriter
    ) -> None:
        self._saboteur = saboteur
        self._context = msgspec.structs.replace(context)
        self._alteration = Alteration(saboteur, self._context)
        self._upstream = upstream
        self._writer = writer

    async def serve(self, request: Request) -> None:
        message = decode(request.body)
        self._context.request = message if isinstance(message, dict) else None
        self._context.call = request
        response = self._saboteur.call(request, self._context) if self._saboteur.call else None
        if response is not None:
            return await send_whole(self._writer, response, response.body or b"")
        altered = self._alteration.alter_request(request.body)
        if isinstance(altered, LocalAnswer):
            return await self._send_answers(altered)
        request.body = altered
        await self._forward(request)

    async def terminate(self) -> None:
        """Answer the request as the fault says; without an answer, the connection is cut off."""
        hook, call = self._saboteur.termination, self._context.call
        if hook is None or call is None or self._context.streams:
            return
        response = hook(call, self._context)
        if response is not None:
            await send_whole(self._writer, response, response.body or b"")

    async def _send_answers(self, answer: LocalAnswer) -> None:
        if answer.delay:
            await asyncio.sleep(answer.delay)
        default = 200 if answer.messages else 202
        response = Response([("Content-Type", JSON)], answer.status or default)
        await self._send_messages(response, bodies(answer.messages))

    async def _send_messages(self, response: Response, messages: list[bytes]) -> None:
        """Send one message as the body, several as an event stream."""
        if len(messages) > 1:
            response.set("Content-Type", EVENT_STREAM)
            messages = [as_event(body) for body in messages]
        await send_whole(self._writer, response, b"".join(messages))

    async def _forward(self, request: Request) -> None:
        reader, writer = await connect(self._upstream.address, PATIENCE, self._upstream.identity)
        try:
            headers = [(name, value) for name, value in request.headers if name.lower() not in _HOP]
            headers += [("Connection", "close"), ("Content-Length", str(len(request.body)))]
            writer.write(write_request(request.method, request.target, headers, request.body))
            await self._relay(reader, request.method)
        finally:
            writer.close()

    async def _relay(self, reader: asyncio.StreamReader, method: str) -> None:
        response: Response | None = None
        body = bytearray()
        blocks: Blocks | None = None
        async for part in read_response(reader, method):
            match part:
                case HeadRead(_, head):
                    response = self._altered(head)
                    if response.body is None and head.media_type == EVENT_STREAM:
                        blocks = Blocks()
                        self._context.streams = True
                        send_head(self._writer, response)
                case PieceRead(data) if blocks is not None:
                    for block in blocks.feed(data):
                        await self._send_block(block)
                case PieceRead(data):
                    body += data
                case Ended() if blocks is None and response is not None:
                    await self._send_body(response, bytes(body))
        if response is not None and response.lingers:
            await asyncio.Event().wait()  # until the driver disconnects

    def _altered(self, head: Head) -> Response:
        headers = [(name, value) for name, value in head.headers if name.lower() not in _HOP]
        response = Response(headers, head.status)
        if self._saboteur.response is not None:
            self._saboteur.response(response, self._context)
        return response

    async def _send_body(self, response: Response, body: bytes) -> None:
        if response.body is None and "json" in (response.header("content-type") or "") and body:
            return await self._send_messages(response, self._alteration.alter_reply(body))
        await send_whole(self._writer, response, body if response.body is None else response.body)

    async def _send_block(self, block: bytes) -> None:
        altered = b"".join(self._alter_event(block))
        if self._saboteur.block is not None:
            altered = self._saboteur.block(altered, self._context)
        self._writer.write(altered)
        await self._writer.drain()

    def _alter_event(self, block: bytes) -> list[bytes]:
        events = SseParser(len(block) + 1).feed(block)
        if self._saboteur.reply is None or not events or not events[0].data:
            return [block]
        (event,) = events
        name = b"" if event.event_id is None else b"id: %b\n" % event.event_id.encode()
        return [name + as_event(body) for body in self._alteration.alter_reply(event.data)]


def as_event(body: bytes) -> bytes:
    return b"event: message\ndata: %b\n\n" % body.replace(b"\n", b"\ndata: ")
