"""A TCP relay between clients and one server that watches the traffic."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

CHUNK = 65536
HOST = "127.0.0.1"
Watcher = Callable[[bytes], bool]
"""Called with each chunk; returns true to close the connection after it."""


class TcpRelay(ABC):
    """`target` is the server's port, which may be set later; `port` is the relay's own."""

    def __init__(self, host: str = HOST, target: int = 0) -> None:
        self.host = host
        self.target = target
        self.port = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @abstractmethod
    def watchers(self) -> tuple[Watcher, Watcher]:
        """The watchers of a new connection: for requests and for answers."""

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._accept, HOST, 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            await self._stop()
            await server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._relay(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # one end disconnected or the relay stops; closing informs the other end
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        watch_requests, watch_answers = self.watchers()
        upstream, upstream_writer = await asyncio.open_connection(self.host, self.target)
        requests = asyncio.create_task(copy(reader, upstream_writer, watch_requests))
        try:
            await copy(upstream, writer, watch_answers)
        finally:
            requests.cancel()
            await asyncio.gather(requests, return_exceptions=True)
            upstream_writer.close()

    async def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, watcher: Watcher) -> None:
    while chunk := await reader.read(CHUNK):
        is_last = watcher(chunk)
        writer.write(chunk)
        await writer.drain()
        if is_last:
            return
    writer.write_eof()
