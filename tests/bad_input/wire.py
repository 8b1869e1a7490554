"""An HTTP connection that sends arbitrary bytes and reads responses."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import httptools

from tests.driving.answer import PATIENCE


class HttpAnswer:
    """Filled by the parser's callbacks until it is complete; another response may follow in the same data."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.complete = False
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.complete:
            self.headers[name.decode().lower()] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        if not self.complete:
            self.body += body

    def on_message_complete(self) -> None:
        if not self.complete:
            self.status = self._parser.get_status_code()
            # An interim response, such as 100, precedes the final one.
            self.complete = self.status >= 200

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Wire:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, authority: str) -> None:
        self._reader = reader
        self._writer = writer
        self.authority = authority

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, url: str) -> AsyncIterator[Wire]:
        port = urlsplit(url).port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield cls(reader, writer, f"localhost:{port}")
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        try:
            async with asyncio.timeout(PATIENCE):
                await self._writer.drain()
        except ConnectionError:
            pass  # the server may refuse a request before it has read everything

    async def answer(self) -> HttpAnswer | None:
        """The next response; none if the connection ends without one."""
        answer = HttpAnswer()
        async with asyncio.timeout(PATIENCE):
            while not answer.complete:
                data = await self._receive()
                if not data:
                    return None
                answer.feed(data)
        return answer

    async def is_closed(self) -> bool:
        """Read to the end of the connection."""
        async with asyncio.timeout(PATIENCE):
            while await self._receive():
                pass
        return True

    async def _receive(self) -> bytes:
        try:
            return await self._reader.read(65536)
        except ConnectionError:
            return b""
