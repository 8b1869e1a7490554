"""Bytecode instructions that the interpreter executes for one call, by part, in a server and in a client.

    python -m bench.steps

Unlike time, the count does not depend on the machine or its load: two runs print the same. Code written in C
(parsing HTTP and JSON, sockets, the event loop) is not counted.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections import Counter
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

from assay import Client, Stdio
from assay.transport.http1.connection import HttpConnection
from assay.transport.http1.server_state import ServerState

from .peers import assay_async
from .peers.assay_async import server
from .process import running
from .request import HANDSHAKE_WIRE, PER_REQUEST_WIRE, Wire
from .subject import PEERS
from .table import as_markdown

Parts = tuple[tuple[str, str], ...]
WARM: Final = 50
PARTS: Final[Parts] = (
    ("transport/http1", "HTTP server: parse, request cycle, answer"),
    ("transport/asgi", "endpoint: head policy, body, form of the answer"),
    ("protocol", "decode, route, compare headers"),
    ("server", "dispatch: method, tool, arguments, result"),
    ("peers", "the tool itself"),
)
CLIENT_PARTS: Final[Parts] = (
    ("transport/client", "transport: frame, send, receive"),
    ("client", "client: call, session, result"),
    ("protocol", "encode, decode, correlate"),
    ("asyncio", "asyncio: timer, event loop, streams"),
)
CLIENT_WIRES: Final = ("memory", "stdio", "http")


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
    counted = await traced(serve(connection, transport, data), PARTS)
    assert b"result" in transport.last, transport.last
    connection.connection_lost(None)
    return counted


async def traced(work: Awaitable[object], parts: Parts) -> Counter[str]:
    """Count the instructions of this thread while the work is done, by part; "" for what is in none."""
    counted: Counter[str] = Counter()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            counted[part_of(frame.f_code.co_filename, parts)] += 1
        return trace

    sys.settrace(trace)
    try:
        await work
    finally:
        sys.settrace(None)
    return counted


async def serve(connection: HttpConnection, transport: Sink, data: bytes) -> None:
    before = transport.answers
    connection.data_received(data)
    while transport.answers == before:
        await asyncio.sleep(0)


def part_of(filename: str, parts: Parts) -> str:
    path = Path(filename).as_posix()
    inside = path.rpartition("/assay/")[2] if "/assay/" in path else path
    known = (title for prefix, title in parts if inside.startswith(prefix) or f"/{prefix}/" in path)
    return next(known, "")


async def count_client(wire: str) -> Counter[str]:
    """Count the instructions of a call of our client. In memory, decoding is that of client and server."""
    with client_target(wire) as target:
        async with Client(target) as client:
            for _ in range(WARM):
                await client.call("add", a=1, b=2)
            return await traced(client.call("add", a=1, b=2), CLIENT_PARTS)


@contextmanager
def client_target(wire: str) -> Iterator[Any]:
    """What the client connects to; an HTTP server runs meanwhile."""
    if wire != "http":
        yield server if wire == "memory" else Stdio(sys.executable, assay_async.__file__)
        return
    with socket.create_server(("127.0.0.1", 0)) as bound, open(os.devnull, "wb") as log:
        command = [sys.executable, str(PEERS / "assay_listen.py"), "assay_async", str(bound.fileno())]
        with running(command, log, keep=(bound.fileno(),)):
            yield f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"


async def main() -> None:
    counts = [await count(wire) for wire in (HANDSHAKE_WIRE, PER_REQUEST_WIRE)]
    rows = [["part", "handshake wire", "2026-07-28 wire"]]
    rows += [[title, *(str(each[title]) for each in counts)] for _, title in PARTS]
    rows.append(["all", *(str(sum(each[title] for _, title in PARTS)) for each in counts)])
    print(as_markdown(rows), "", sep="\n")
    counts = [await count_client(wire) for wire in CLIENT_WIRES]
    rows = [["a call of the client", *CLIENT_WIRES]]
    rows += [[title, *(str(each[title]) for each in counts)] for _, title in CLIENT_PARTS]
    rows.append(["all", *(str(sum(each[title] for _, title in CLIENT_PARTS)) for each in counts)])
    print(as_markdown(rows))


if __name__ == "__main__":
    asyncio.run(main())
