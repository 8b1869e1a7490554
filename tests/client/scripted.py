"""Servers that answer as a test says, also wrongly: raw HTTP, and processes."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NamedTuple

from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.client.everything import python
from tests.driving.answer import PATIENCE

Writer = asyncio.StreamWriter


class HttpRequest(NamedTuple):
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.body)
        return message


Responder = Callable[[HttpRequest, Writer], Awaitable[None]]


class RawServer(NamedTuple):
    url: str
    requests: list[HttpRequest]
    connections: list[Writer]
    ended: asyncio.Event
    """Set when a connection has ended."""


@contextlib.asynccontextmanager
async def raw_http(respond: Responder) -> AsyncIterator[RawServer]:
    """Answers each request with what `respond` writes, and keeps connections open."""
    requests: list[HttpRequest] = []
    connections: list[Writer] = []
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: Writer) -> None:
        connections.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                request = await _read(reader)
                requests.append(request)
                await respond(request, writer)
        ended.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        async with asyncio.timeout(3 * PATIENCE):
            yield RawServer(f"http://127.0.0.1:{port}/mcp", requests, connections, ended)
    finally:
        server.close()
        for writer in connections:
            writer.transport.abort()


async def _read(reader: asyncio.StreamReader) -> HttpRequest:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ")
    pairs = (line.partition(": ") for line in lines[1:] if line)
    headers = {name.lower(): value for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return HttpRequest(method, target, headers, body)


def http_response(status: str, body: bytes = b"", kind: str = "application/json", extra: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


def result(request: HttpRequest, value: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "result": value}).encode()


DISCOVERY = {"supportedVersions": [PER_REQUEST[-1].date], "capabilities": {"tools": {}}}
INITIALIZED = {
    "protocolVersion": HANDSHAKE[-1].date,
    "capabilities": {},
    "serverInfo": {"name": "scripted", "version": "1"},
}


def answering(respond: Responder) -> Responder:
    """Agrees to the newest revision, then answers as `respond` says."""

    async def answer(request: HttpRequest, writer: Writer) -> None:
        if request.method == "POST" and request.message["method"] == "server/discover":
            writer.write(http_response("200 OK", result(request, DISCOVERY)))
        else:
            await respond(request, writer)

    return answer


PROCESS = """
import json, os, sys, signal, time

def send(value):
    sys.stdout.write(json.dumps(value) + "\\n")
    sys.stdout.flush()

def answer(message, result):
    send({"jsonrpc": "2.0", "id": message["id"], "result": result})

discovery = %r
initialized = %r

def messages():
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "server/discover":
            answer(message, discovery)
        elif message.get("method") == "initialize":
            answer(message, initialized)
        elif "id" in message:
            yield message
"""


def process(script: str) -> Any:
    """A process that runs this script after the definitions above; `messages()` are its requests."""
    return python("-c", PROCESS % (DISCOVERY, INITIALIZED) + script)
