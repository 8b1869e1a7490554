"""Requests of OTLP's exporters as they come over HTTP/1.1, and what they are answered."""

from __future__ import annotations

import asyncio
from http.client import responses
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from assay.lab.harness.links.http_text import CRLF, HEAD_END, JSON, Head, parse_head

LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a body, as it is sent."""
PROTOBUF: Final = "application/x-protobuf"
_MESSAGE: Final = b"\x12"
"""Tag of the text in a `google.rpc.Status`; its length follows as one byte."""
_LONGEST: Final = 127


class Refused(Exception):
    """A request that is not taken: with which status, and why."""

    def __init__(self, status: int, why: str, *, closes: bool = False) -> None:
        super().__init__(why)
        self.status = status
        self.closes = closes
        """Whether what is left of the request would be in the way of the next."""


class Post(Struct, frozen=True):
    """A request, read to its end."""

    method: str = ""
    path: str = ""
    media_type: str = PROTOBUF
    coding: str = ""
    body: bytes = b""


async def read_post(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Post:
    """
    Raises:
        Refused: it is too large, or no HTTP.
        EOFError: the client hung up.
    """
    try:
        head = parse_head(await reader.readuntil(HEAD_END))
    except asyncio.LimitOverrunError:
        raise Refused(431, "the head is too large", closes=True) from None
    if not head.start[2].startswith("HTTP/1."):
        raise Refused(400, "not a request of HTTP/1.1", closes=True)
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
            pass  # a trailer says nothing to us
    except asyncio.LimitOverrunError:
        raise Refused(400, "a line between the chunks is too long", closes=True) from None
    return bytes(body)


def _size(text: str | bytes, base: int, most: int) -> int:
    try:
        size = int(text[:20], base)
    except ValueError:
        raise Refused(400, "the body has no length that can be read", closes=True) from None
    if not 0 <= size <= most:
        raise Refused(413, f"the body is larger than {LARGEST} bytes", closes=True)
    return size


async def answer(writer: asyncio.StreamWriter, post: Post, refusal: Refused | None = None) -> None:
    """A success is an empty message, a refusal a `google.rpc.Status`: each in the encoding of the request."""
    status = 200 if refusal is None else refusal.status
    kind = JSON if post.media_type == JSON else PROTOBUF
    body = (b"{}" if kind == JSON else b"") if refusal is None else _why(str(refusal), kind)
    lines = [
        f"HTTP/1.1 {status} {responses[status]}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        *(["Connection: close"] if refusal is not None and refusal.closes else []),
    ]
    writer.write("\r\n".join(lines).encode() + HEAD_END + body)
    await writer.drain()


def _why(text: str, kind: str) -> bytes:
    if kind == JSON:
        return msgspec.json.encode({"message": text})
    short = text.encode()[:_LONGEST]
    return _MESSAGE + bytes([len(short)]) + short
