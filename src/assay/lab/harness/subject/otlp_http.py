"""Requests of OTLP exporters over HTTP/1.1, and the responses to them."""

from __future__ import annotations

import asyncio
from http.client import responses
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from assay.lab.harness.links.http_text import CRLF, HEAD_END, JSON, Head, parse_head

LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a body as sent."""
PROTOBUF: Final = "application/x-protobuf"
_MESSAGE: Final = b"\x12"
"""Protobuf tag of the message in a `google.rpc.Status`; its length follows as one byte."""
_LONGEST: Final = 127


class ExportRejected(Exception):
    """The request cannot be accepted."""

    def __init__(self, status: int, reason: str, *, closes: bool = False) -> None:
        super().__init__(reason)
        self.status = status
        self.closes = closes
        """Whether the connection must close because the request was not read completely."""


class Post(Struct, frozen=True):
    method: str = ""
    path: str = ""
    media_type: str = PROTOBUF
    coding: str = ""
    body: bytes = b""


async def read_post(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Post:
    """
    Raises:
        ExportRejected: the request is too large, or not HTTP.
        EOFError: the client closed the connection.
    """
    try:
        head = parse_head(await reader.readuntil(HEAD_END))
    except asyncio.LimitOverrunError:
        raise ExportRejected(431, "the head is too large", closes=True) from None
    if not head.start[2].startswith("HTTP/1."):
        raise ExportRejected(400, "not an HTTP/1.1 request", closes=True)
    if (head.get("expect") or "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    coding = (head.get("content-encoding") or "").lower()
    body = await _read_body(reader, head)
    return Post(head.method, urlsplit(head.target).path, head.media_type, coding, body)


async def _read_body(reader: asyncio.StreamReader, head: Head) -> bytes:
    if head.get("transfer-encoding") is not None:
        return await _read_chunks(reader)
    return await reader.readexactly(_size(head.get("content-length") or "0", 10, LARGEST))


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    try:
        while size := _size((await reader.readuntil(CRLF)).partition(b";")[0], 16, LARGEST - len(body)):
            body += (await reader.readexactly(size + len(CRLF)))[:size]
        while await reader.readuntil(CRLF) != CRLF:
            pass  # trailers are ignored
    except asyncio.LimitOverrunError:
        raise ExportRejected(400, "a line between the chunks is too long", closes=True) from None
    return bytes(body)


def _size(text: str | bytes, base: int, most: int) -> int:
    try:
        size = int(text[:20], base)
    except ValueError:
        raise ExportRejected(400, "the length of the body is not a number", closes=True) from None
    if not 0 <= size <= most:
        raise ExportRejected(413, f"the body is larger than {LARGEST} bytes", closes=True)
    return size


async def answer(writer: asyncio.StreamWriter, post: Post, rejection: ExportRejected | None = None) -> None:
    """Success is an empty message, a rejection a `google.rpc.Status`, in the encoding of the request."""
    status = 200 if rejection is None else rejection.status
    kind = JSON if post.media_type == JSON else PROTOBUF
    body = (b"{}" if kind == JSON else b"") if rejection is None else _status(str(rejection), kind)
    lines = [
        f"HTTP/1.1 {status} {responses[status]}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        *(["Connection: close"] if rejection is not None and rejection.closes else []),
    ]
    writer.write("\r\n".join(lines).encode() + HEAD_END + body)
    await writer.drain()


def _status(text: str, kind: str) -> bytes:
    if kind == JSON:
        return msgspec.json.encode({"message": text})
    short = text.encode()[:_LONGEST]
    return _MESSAGE + bytes([len(short)]) + short
