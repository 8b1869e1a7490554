"""Raw HTTP and WebSocket messages, as attackers and ordinary clients send them."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import struct
from typing import Any, Final

from bench.request import DECLARATION, HEADERS, PER_REQUEST

LARGE: Final = 4 * 1024 * 1024
"""The size limit of a message."""
ATTACKER: Final = "127.0.0.2"
ORDINARY: Final = "127.0.0.1"


def post(body: bytes, *, length: int | None = None, **headers: str) -> bytes:
    """A POST request. With a `length` larger than the body, the rest of it never arrives."""
    size = len(body) if length is None else length
    every = {"host": "localhost", **HEADERS, **headers, "content-length": str(size)}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in every.items())
    return b"POST /mcp HTTP/1.1\r\n" + lines.encode() + b"\r\n" + body


def request(method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def call(tool: str, **arguments: Any) -> bytes:
    return request("tools/call", name=tool, arguments=arguments)


def initialize(padding: int = 0) -> bytes:
    client = {"name": "client" + "x" * padding, "version": "1"}
    return request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)


def listen() -> bytes:
    """Opens a stream of changes, in the revision without a handshake."""
    body = request("subscriptions/listen", notifications={"toolsListChanged": True}, _meta=DECLARATION)
    return post(body, mcp_protocol_version=PER_REQUEST, mcp_method="subscriptions/listen")


def upgrade() -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    return (
        "GET /mcp/ws HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
        f"sec-websocket-key: {key}\r\nsec-websocket-version: 13\r\n\r\n"
    ).encode()


def text_frame(payload: bytes) -> bytes:
    """A masked text frame; a mask of zeros leaves the payload as it is."""
    return b"\x81" + struct.pack(">BQ", 0x80 | 127, len(payload)) + bytes(4) + payload


async def connect(port: int, source: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))


class Response:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def is_empty(self) -> bool:
        """Whether it claims success and has no content."""
        return self.status == 200 and not self.body


async def read_response(reader: asyncio.StreamReader) -> Response:
    """
    Raises:
        asyncio.IncompleteReadError: the connection ended first.
    """
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    fields = (line.partition(": ") for line in lines if line)
    headers = {name.lower(): value for name, _, value in fields}
    if headers.get("transfer-encoding") == "chunked":
        body = await _read_chunks(reader)
    else:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Response(int(first.split()[1]), headers, body)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    parts = []
    while size := int(await reader.readuntil(b"\r\n"), 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return b"".join(parts)
