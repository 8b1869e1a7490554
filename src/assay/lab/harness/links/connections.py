"""Servers of the lab's own on this machine, whose connections end with them."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Connections:
    """`talk` serves one connection, which is closed afterwards; that the other side hangs up ends it, too."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._servers: list[asyncio.Server] = []
        self._open: set[asyncio.Task[None]] = set()

    async def listen(
        self, host: str = "127.0.0.1", port: int = 0, context: ssl.SSLContext | None = None
    ) -> int:
        """Returns the port."""
        server = await asyncio.start_server(self._accept, host, port, ssl=context)
        self._servers.append(server)
        found: int = server.sockets[0].getsockname()[1]
        return found

    async def stop(self, grace: float = 0.0) -> None:
        """End all that is open; what ends by itself within that many seconds is let be."""
        for server in self._servers:
            server.close()
        if grace and self._open:
            await asyncio.wait(set(self._open), timeout=grace)
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            # Nobody else has to hear that `stop` has ended it.
            with contextlib.suppress(ConnectionError, EOFError, asyncio.CancelledError):
                await self._talk(reader, writer)
        finally:
            self._open.discard(task)
            writer.close()
