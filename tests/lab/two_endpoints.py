"""A server of the first revision with HTTP+SSE only: answers on a stream, requests to a second URL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from assay.revisions.registry import HANDSHAKE

OLDEST = HANDSHAKE[0]
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
REFUSED = b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"
ACCEPTED = b"HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\n\r\nAccepted"
TOOL = {"name": "nothing", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
RESULTS: dict[str, dict[str, Any]] = {
    "initialize": {
        "protocolVersion": OLDEST.date,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "x", "version": "1"},
    },
    "ping": {},
    "tools/list": {"tools": [TOOL]},
}


class TwoEndpoints:
    """`first` is the beginning of each stream; `%d` in it becomes the number of the stream."""

    def __init__(self, first: bytes = b"event: endpoint\ndata: /messages?session=%d\n\n") -> None:
        self._first = first
        self._streams: list[asyncio.StreamWriter] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = head.split(b" ", 2)
        if (method, target) == (b"GET", b"/sse"):
            self._open(writer)
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or b"0")
        body = await reader.readexactly(length)
        posted = method == b"POST" and target.startswith(b"/messages?session=")
        writer.write(ACCEPTED if posted else REFUSED)
        writer.close()
        if posted:
            self._take(json.loads(body), self._streams[int(target.rpartition(b"=")[2])])

    def _open(self, writer: asyncio.StreamWriter) -> None:
        first = self._first % len(self._streams) if b"%d" in self._first else self._first
        self._streams.append(writer)
        writer.write(STREAM + first)
        if not first:
            writer.close()

    def _take(self, message: dict[str, Any], stream: asyncio.StreamWriter) -> None:
        if "id" not in message:
            return
        unknown = {"error": {"code": -32601, "message": "no such method"}}
        known = message["method"] in RESULTS
        content = {"result": RESULTS[message["method"]]} if known else unknown
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **content})
        stream.write(f"event: message\ndata: {body}\n\n".encode())

    async def hang_up(self) -> None:
        for stream in self._streams:
            stream.close()
        await asyncio.gather(*(stream.wait_closed() for stream in self._streams), return_exceptions=True)


@asynccontextmanager
async def serving(server: TwoEndpoints) -> AsyncIterator[str]:
    """Yields the URL of the stream."""
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/sse"
    finally:
        listening.close()
        await server.hang_up()
