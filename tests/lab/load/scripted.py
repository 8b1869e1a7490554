"""An HTTP server whose every answer a test writes itself, and one operation to send there."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import cast

from assay.lab.harness.transport import Transport
from assay.lab.load.endpoint import Endpoint
from assay.lab.load.generator import Generator, Pace
from assay.lab.load.operation import Operation, encode
from assay.lab.load.schedule import SECOND
from assay.lab.load.tally import Tally
from assay.lab.load.wire import WireSettings, now
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Opening

HANDSHAKE = next(each for each in reversed(REVISIONS) if each.opening is Opening.HANDSHAKE)
PER_REQUEST = REVISIONS[-1]
CALL = Operation(kind="calls", name="calls add", method="tools/call", params={"name": "add", "arguments": {}})
STREAM = Operation(kind="streams", name="streams add", method="tools/call", is_stream=True)
Reply = Callable[[asyncio.Transport, int], None]
"""Answers a call with this id."""


def response(body: bytes, status: str = "200 OK", media: str = "application/json", extra: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


def result(request_id: int, content: bytes = b"{}") -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (request_id, content)


def answer(transport: asyncio.Transport, request_id: int) -> None:
    transport.write(response(result(request_id)))


class Scripted(asyncio.Protocol):
    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        match = re.search(rb'"id":(\d+)', data)
        if match is None:
            self._transport.write(response(b"", "202 Accepted"))
        elif b'"tools/call"' in data:
            self._reply(self._transport, int(match[1]))
        else:
            extra = "Mcp-Session-Id: s1\r\n" if b'"initialize"' in data else ""
            self._transport.write(response(result(int(match[1])), extra=extra))


@asynccontextmanager
async def scripted(reply: Reply) -> AsyncIterator[Endpoint]:
    server = await asyncio.get_running_loop().create_server(lambda: Scripted(reply), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield Endpoint(Transport.HTTP, url=f"http://127.0.0.1:{port}/mcp")
    finally:
        server.close()


async def measured(
    endpoint: Endpoint,
    *,
    seconds: float = 0.1,
    operation: Operation = CALL,
    timeout: float = 5.0,
    users: int = 1,
    rate: float | None = None,
) -> Tally:
    settings = WireSettings(HANDSHAKE, {operation.name: encode(operation, HANDSHAKE)}, timeout)
    tally = Tally(0, 0)
    pace = Pace(users=users, rate=rate, timeout=timeout)
    generator = Generator(pace, [operation], partial(endpoint.connect, settings), tally)
    try:
        await generator.open()
        generator.tally = Tally(now(), now() + int(seconds * SECOND))
        await generator.run(generator.tally.end)
        await generator.drain()
    finally:
        await generator.close()
    return generator.tally
