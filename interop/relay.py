"""A TCP relay that cuts a connection where the server's words tell it to, as a failing network would.

A response that holds `cut-here:<token>;` is passed on up to that point, then both ends are closed; the same
token never cuts twice, so the client that returns for the rest gets it. Without the mark it only relays.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

MARK = re.compile(rb"cut-here:([0-9a-zA-Z-]+);")
CHUNK = 65536
# What may still belong to a mark that a chunk boundary split.
MARK_LENGTH = 64


class Relay:
    """Relays to one server; `cuts` lists the tokens that have cut a connection."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self.cuts: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._relay(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # either end is gone, or the relay stops: the other end learns it by the close below
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream, upstream_writer = await asyncio.open_connection(self.host, self.port)
        asking = asyncio.create_task(self._copy(reader, upstream_writer))
        try:
            await self._copy_until_mark(upstream, writer)
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            upstream_writer.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(CHUNK):
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()

    async def _copy_until_mark(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen = b""
        while chunk := await reader.read(CHUNK):
            writer.write(chunk)
            await writer.drain()
            seen = seen[-MARK_LENGTH:] + chunk
            fresh = [token for match in MARK.findall(seen) if (token := match.decode()) not in self.cuts]
            if fresh:
                self.cuts += fresh
                return

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def relayed(url: str) -> AsyncIterator[tuple[str, Relay]]:
    """Give a URL that leads to `url` through a relay, and the relay."""
    parts = urlsplit(url)
    assert parts.hostname is not None and parts.port is not None, url
    relay = Relay(parts.hostname, parts.port)
    server = await asyncio.start_server(relay.accept, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield urlunsplit(parts._replace(netloc=f"localhost:{port}")), relay
    finally:
        server.close()
        await relay.stop()
        await server.wait_closed()
