"""Local TCP servers of the lab; stopping one also closes its connections."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Connections:
    """Calls `handle` for each connection, and closes the connection when it returns."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle
        self._servers: list[asyncio.Server] = []
        self._open: set[asyncio.Task[None]] = set()

    async def listen(
        self, host: str = "127.0.0.1", port: int = 0, context: ssl.SSLContext | None = None
    ) -> int:
        """Start listening and return the port."""
        # In two steps: if this is cancelled while the server starts, its socket is known, and is closed.
        server = await asyncio.start_server(self._accept, host, port, ssl=context, start_serving=False)
        self._servers.append(server)
        try:
            await server.start_serving()
        except BaseException:
            server.close()
            raise
        bound_port: int = server.sockets[0].getsockname()[1]
        return bound_port

    async def stop(self, grace: float = 0.0) -> None:
        """Give open connections `grace` seconds to end, then cancel the rest."""
        for server in self._servers:
            server.close()
        if grace and self._open:
            await asyncio.wait(set(self._open), timeout=grace)
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        # Not in the task: if that is cancelled before its first step, nothing in it runs.
        task.add_done_callback(lambda _: writer.close())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # `stop` cancels this task; asyncio would log the cancellation as an error.
        with contextlib.suppress(ConnectionError, EOFError, asyncio.CancelledError):
            await self._handle(reader, writer)
