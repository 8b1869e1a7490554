"""The bytes of a TCP connection, read ahead so that a disconnection is noticed during a response."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from assay.lab.harness.links.http_text import CRLF, HEAD_END, Head, parse_head

PIECE: Final = 64 * 1024
LARGEST: Final = 32 * 1024 * 1024
"""The most unread bytes of a connection; no scenario needs as many."""


class Inbound:
    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._buffer = bytearray()
        self._more = asyncio.Event()
        self.disconnected = asyncio.Event()
        """Set when the client closed its side of the connection."""
        self._reading = asyncio.create_task(self._read())

    async def close(self) -> None:
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self) -> None:
        try:
            while len(self._buffer) <= LARGEST and (data := await self._reader.read(PIECE)):
                self._buffer += data
                self._more.set()
        except ConnectionError:
            pass  # handled like an orderly close
        finally:
            self.disconnected.set()
            self._more.set()

    async def some(self) -> bytes:
        """The buffered bytes, at least one; empty at the end."""
        while not self._buffer:
            if self.disconnected.is_set():
                return b""
            await self._wait()
        data = bytes(self._buffer)
        self._buffer.clear()
        return data

    async def until(self, end: bytes) -> bytes:
        """
        Raises:
            EOFError: the connection ended first.
        """
        while (place := self._buffer.find(end)) < 0:
            await self._grow()
        return self._take(place + len(end))

    async def exactly(self, count: int) -> bytes:
        """
        Raises:
            EOFError: the connection ended first.
        """
        while len(self._buffer) < count:
            await self._grow()
        return self._take(count)

    async def request(self) -> tuple[Head, bytes, bytes]:
        """The next HTTP request: its head, its raw bytes, and its decoded body.

        Raises:
            EOFError: the connection ended first.
        """
        raw = await self.until(HEAD_END)
        head = parse_head(raw)
        body = await self._body(head)
        return head, raw + body, body

    async def _body(self, head: Head) -> bytes:
        if "chunked" in (head.get("transfer-encoding") or "").lower():
            return b"".join([part async for part in self._chunks()])
        length = head.get("content-length") or ""
        return await self.exactly(int(length)) if length.isdecimal() else b""

    async def _chunks(self) -> AsyncIterator[bytes]:
        while size := int((await self.until(CRLF)).partition(b";")[0].strip() or b"0", 16):
            yield (await self.exactly(size + len(CRLF)))[:-2]
        await self.until(CRLF)

    async def _grow(self) -> None:
        if self.disconnected.is_set():
            raise EOFError
        await self._wait()

    async def _wait(self) -> None:
        self._more.clear()
        await self._more.wait()

    def _take(self, count: int) -> bytes:
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data
