"""One HTTP/1.1 exchange per connection: sends any bytes, yields the parts of the response as they arrive."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import msgspec
from msgspec import Struct

from assay.lab.harness.subject.bearer import USUAL

from .broken_off import NoAnswer, NotListening, Unreachable
from .http_text import HEAD_END, Head, parse_head, write_request
from .identity import DEFAULT_IDENTITY, Identity

MAX_HEAD: Final = 64 * 1024
PIECE: Final = 64 * 1024
_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_SECURE: Final = frozenset({"https", "wss"})
PATIENCE: Final = 10.0
MOST: Final = 1024 * 1024


def is_local(authority: str) -> bool:
    """Whether `host[:port]` has a loopback name."""
    host = authority.partition("]")[0].removeprefix("[") if "[" in authority else authority.partition(":")[0]
    return host.lower() in LOOPBACK


class HeadRead(Struct, frozen=True):
    raw: bytes
    head: Head


class PieceRead(Struct, frozen=True):
    """A part of the body, transfer coding removed."""

    data: bytes


class Ended(Struct, frozen=True):
    problem: str | None = None
    """How the response violated HTTP; None if it ended normally."""


Part = HeadRead | PieceRead | Ended


class ConnectionCut(Exception):
    """The connection ended inside a response."""


class Address(Struct, frozen=True):
    """A parsed endpoint URL."""

    host: str
    port: int
    secure: bool
    authority: str
    target: str

    @property
    def is_local(self) -> bool:
        return self.host in LOOPBACK

    @classmethod
    def of(cls, url: str) -> Address:
        """
        Raises:
            ValueError: not a URL of an HTTP or WebSocket endpoint.
        """
        parts: SplitResult = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError(f"not a URL of an HTTP or WebSocket endpoint: {url}")
        target = parts.path or "/"
        return cls(
            host=parts.hostname,
            port=parts.port or _PORTS[parts.scheme],
            secure=parts.scheme in _SECURE,
            authority=parts.netloc.rpartition("@")[2],
            target=f"{target}?{parts.query}" if parts.query else target,
        )


async def connect(
    address: Address, patience: float, identity: Identity = DEFAULT_IDENTITY, kind: str = USUAL
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """`kind` selects the client certificate, if the server asks for one.

    Raises:
        Unreachable: no connection in time.
    """
    context = identity.context(kind) if address.secure else None
    try:
        async with asyncio.timeout(patience):
            return await asyncio.open_connection(address.host, address.port, ssl=context, limit=MAX_HEAD)
    except TimeoutError:
        raise Unreachable(f"no connection to {address.authority} within {patience:g} s") from None
    except OSError as error:
        raise NotListening(f"no connection to {address.authority}: {reason_for(error)}") from None


def reason_for(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return f"TLS: {getattr(error, 'verify_message', '') or error.reason or error}"
    # asyncio's message has the address in place of the reason.
    return os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)


async def read_response(
    reader: asyncio.StreamReader, method: str, *, upgrade: bool = False
) -> AsyncIterator[Part]:
    """The parts of one response; the last is always `Ended`. With `upgrade`, 101 is final."""
    try:
        head_read = await _read_head(reader, upgrade=upgrade)
        yield head_read
        async for piece in _read_body(reader, method, head_read.head):
            yield PieceRead(piece)
    except (ConnectionCut, ValueError, asyncio.LimitOverrunError) as error:
        yield Ended(str(error))
    except OSError as error:
        yield Ended(f"the connection broke: {error.strerror or error}")
    else:
        yield Ended()


async def _read_head(reader: asyncio.StreamReader, *, upgrade: bool) -> HeadRead:
    """The head of the final response; interim responses (1xx) are skipped."""
    while True:
        try:
            raw = await reader.readuntil(HEAD_END)
        except asyncio.IncompleteReadError as error:
            raise ConnectionCut(
                f"the connection ended before a response head: {error.partial[:80]!r}"
            ) from None
        head = parse_head(raw)
        if not head.start[0].startswith("HTTP/1.") or not head.status:
            raise ValueError(f"not an HTTP/1 status line: {raw[:80]!r}")
        if not 100 <= head.status < 200 or (upgrade and head.status == 101):
            return HeadRead(raw, head)


async def _read_body(reader: asyncio.StreamReader, method: str, head: Head) -> AsyncIterator[bytes]:
    if method == "HEAD" or head.status in (204, 304):
        return
    if "chunked" in (head.get("transfer-encoding") or "").lower():
        async for piece in _read_chunks(reader):
            yield piece
    elif (length := head.get("content-length")) is not None:
        if not length.isdecimal():
            raise ValueError(f"not a content-length: {length!r}")
        async for piece in _read_exactly(reader, int(length)):
            yield piece
    else:
        while piece := await reader.read(PIECE):
            yield piece


async def _read_exactly(reader: asyncio.StreamReader, length: int) -> AsyncIterator[bytes]:
    while length:
        piece = await reader.read(min(PIECE, length))
        if not piece:
            raise ConnectionCut(f"the connection ended {length} bytes before the end of the body")
        length -= len(piece)
        yield piece


async def _read_chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    try:
        while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
            async for piece in _read_exactly(reader, size):
                yield piece
            await reader.readexactly(2)
        while await reader.readuntil(b"\r\n") != b"\r\n":
            pass  # trailers
    except asyncio.IncompleteReadError:
        raise ConnectionCut("the connection ended inside a chunked body") from None


class Answer(Struct, frozen=True):
    status: int = 0
    """0 if no response came."""
    body: bytes = b""

    @property
    def object(self) -> dict[str, Any]:
        """The JSON object in the body; empty if there is none."""
        try:
            value = msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return {}
        return value if isinstance(value, dict) else {}


async def fetch(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes = b"",
    identity: Identity = DEFAULT_IDENTITY,
) -> Answer:
    """
    Raises:
        ValueError: the URL is not usable.
        BrokenOff: no connection, or no answer in time.
    """
    address = Address.of(url)
    reader, writer = await connect(address, PATIENCE, identity)
    own = {"Host": address.authority, "Connection": "close", "Content-Length": str(len(body))}
    try:
        async with asyncio.timeout(PATIENCE):
            writer.write(write_request(method, address.target, {**own, **headers}.items(), body))
            return await _answer(reader, method)
    except TimeoutError:
        raise NoAnswer(f"{method} {address.authority}", PATIENCE) from None
    finally:
        writer.close()


async def _answer(reader: asyncio.StreamReader, method: str) -> Answer:
    status, body = 0, b""
    async for part in read_response(reader, method):
        match part:
            case HeadRead(_, head):
                status = head.status
            case PieceRead(data) if len(body) < MOST:
                body += data
    return Answer(status, body)
