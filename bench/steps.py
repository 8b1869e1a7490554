"""Bytecode instructions that the interpreter executes for one call, by part.

    python -m bench.steps

Unlike time, the count does not depend on the machine or its load: two runs print the same. Code written in C
(parsing HTTP and JSON, sockets, the event loop) is not counted.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, Final

from assay.transport.http1.connection import HttpConnection
from assay.transport.http1.server_state import ServerState

from .peers.assay_async import server
from .request import HANDSHAKE_WIRE, PER_REQUEST_WIRE, Wire
from .table import as_markdown

WARM: Final = 50
PARTS: Final = (
    ("transport/http1", "HTTP server: parse, request cycle, answer"),
    ("transport/asgi", "endpoint: head policy, body, form of the answer"),
    ("protocol", "decode, route, compare headers"),
    ("server", "dispatch: method, tool, arguments, result"),
    ("peers", "the tool itself"),
)


class Sink(asyncio.Transport):
    """A transport without a socket, which counts the answers."""

    answers = 0
    last = b""

    def write(self, data: Any) -> None:
        self.answers += 1
        self.last = bytes(data)

    def is_closing(self) -> bool:
        return False


def request(wire: Wire) -> bytes:
    body = wire.body.encode()
    headers = {"host": "localhost", **wire.headers, "content-length": str(len(body))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return b"POST /mcp HTTP/1.1\r\n" + lines.encode() + b"\r\n" + body


async def count(wire: Wire) -> Counter[str]:
    """Count the instructions of one call by part, after the same call has filled the caches."""
    connection, transport, data = (
        HttpConnection(ServerState(server.asgi(), server.limits)),
        Sink(),
        request(wire),
    )
    connection.connection_made(transport)
    for _ in range(WARM):
        await serve(connection, transport, data)
    counted: Counter[str] = Counter()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            counted[part_of(frame.f_code.co_filename)] += 1
        return trace

    sys.settrace(trace)
    await serve(connection, transport, data)
    sys.settrace(None)
    assert b"result" in transport.last, transport.last
    connection.connection_lost(None)
    return counted


async def serve(connection: HttpConnection, transport: Sink, data: bytes) -> None:
    before = transport.answers
    connection.data_received(data)
    while transport.answers == before:
        await asyncio.sleep(0)


def part_of(filename: str) -> str:
    path = Path(filename).as_posix()
    inside = path.rpartition("/assay/")[2] if "/assay/" in path else path
    known = (title for prefix, title in PARTS if inside.startswith(prefix) or f"/{prefix}/" in path)
    return next(known, "")


async def main() -> None:
    counts = [await count(wire) for wire in (HANDSHAKE_WIRE, PER_REQUEST_WIRE)]
    rows = [["part", "handshake wire", "2026-07-28 wire"]]
    rows += [[title, *(str(each[title]) for each in counts)] for _, title in PARTS]
    rows.append(["all", *(str(sum(each[title] for _, title in PARTS)) for each in counts)])
    print(as_markdown(rows))


if __name__ == "__main__":
    asyncio.run(main())
