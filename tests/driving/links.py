"""The client's side of each transport, with the same interface."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from typing import Any, Protocol

from assay.server.server import Server
from assay.transport.memory import MemoryConnection
from assay.transport.stdio import (
    PipeReader,
    StdioConnection,
    StdioWriter,
    ThreadReader,
    open_writer,
    start_reading,
)
from tests.driving.asgi import AsgiPeer
from tests.driving.process import StdioProcess
from tests.driving.sockets import SocketPeer
from tests.driving.websocket import AsgiSocket

Take = Callable[[Any], None]


class Link(Protocol):
    async def send(self, message: Any) -> None:
        """Send a message. Its answer, if any, is passed to `Take` later."""

    async def listen(self) -> None:
        """Receive messages outside of requests."""

    async def settled(self) -> None:
        """Wait until all requests are answered, on transports that know."""

    async def close(self) -> None: ...


def is_request(message: Any) -> bool:
    return isinstance(message, list) or ("method" in message and "id" in message)


class Deliveries:
    """Requests in progress, each in a task."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self, message: Any, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.append(task)
        if not is_request(message):
            await task

    async def settled(self) -> None:
        await asyncio.gather(*self._tasks)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        outcomes = await asyncio.gather(*self._tasks, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome


class MemoryLink:
    def __init__(self, server: Server, take: Take) -> None:
        self._take = take
        self._connection = MemoryConnection(server, take=lambda data: take(json.loads(data)))
        self._deliveries = Deliveries()

    async def send(self, message: Any) -> None:
        await self._deliveries.run(message, self._deliver(message))

    async def _deliver(self, message: Any) -> None:
        reply = await self._connection.deliver(json.dumps(message).encode())
        if reply is not None:
            self._take(json.loads(reply))

    async def listen(self) -> None:
        pass

    async def settled(self) -> None:
        await self._deliveries.settled()

    async def close(self) -> None:
        self._connection.close()
        await self._deliveries.close()


class PipeLink:
    """The stdio transport in this process, on real pipes."""

    _input: int
    _descriptors: list[int]
    _writer: StdioWriter
    _connection: StdioConnection
    _reading: PipeReader | ThreadReader
    _transport: asyncio.ReadTransport
    _receiving: asyncio.Task[None]
    _ended: asyncio.Event

    @classmethod
    async def open(cls, server: Server, take: Take) -> PipeLink:
        self = cls()
        source, self._input = os.pipe()
        output, sink = os.pipe()
        self._descriptors = [source, sink]
        self._writer = await open_writer(sink)
        self._connection = StdioConnection(server, self._writer)
        self._ended = asyncio.Event()
        self._reading = await start_reading(source, self._connection, self._ended)
        lines = asyncio.StreamReader(limit=1 << 23)
        self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(lines), os.fdopen(output, "rb", buffering=0)
        )
        self._receiving = asyncio.get_running_loop().create_task(take_lines(lines, take))
        return self

    async def send(self, message: Any) -> None:
        os.write(self._input, json.dumps(message).encode() + b"\n")

    async def listen(self) -> None:
        pass

    async def settled(self) -> None:
        pass

    async def close(self) -> None:
        os.close(self._input)
        await self._ended.wait()
        self._reading.close()
        await self._connection.drain()
        await self._writer.close()
        for descriptor in self._descriptors:
            os.close(descriptor)
        await self._receiving
        self._transport.close()


async def take_lines(lines: asyncio.StreamReader, take: Take) -> None:
    while line := await lines.readline():
        assert line.endswith(b"\n")
        take(json.loads(line))


class ProcessLink:
    """A server in a separate process, which must exit with 0 when its input ends."""

    def __init__(self, process: StdioProcess, take: Take) -> None:
        self._process = process
        assert process.process.stdout is not None
        self._receiving = asyncio.get_running_loop().create_task(take_lines(process.process.stdout, take))

    async def send(self, message: Any) -> None:
        await self._process.send(message)

    async def listen(self) -> None:
        pass

    async def settled(self) -> None:
        pass

    async def close(self) -> None:
        self._process.end_input()
        assert await self._process.exit_code() == 0
        await self._receiving


class SocketLink:
    """A WebSocket of the ASGI application in this process."""

    def __init__(self, socket: AsgiSocket, take: Take) -> None:
        self._socket = socket
        self._receiving = asyncio.get_running_loop().create_task(self._receive(take))

    @classmethod
    async def open(cls, server: Server, take: Take) -> SocketLink:
        return cls(await AsgiSocket(server.asgi()).__aenter__(), take)

    async def _receive(self, take: Take) -> None:
        while True:
            take(await self._socket.receive(patience=None))

    async def send(self, message: Any) -> None:
        await self._socket.send(message)

    async def listen(self) -> None:
        pass

    async def settled(self) -> None:
        pass

    async def close(self) -> None:
        self._receiving.cancel()
        (outcome,) = await asyncio.gather(self._receiving, return_exceptions=True)
        await self._socket.__aexit__(None, None, None)
        assert isinstance(outcome, asyncio.CancelledError), outcome


class HttpLink:
    """Sends each message by POST; messages outside of requests arrive by GET."""

    def __init__(self, peer: AsgiPeer | SocketPeer, take: Take) -> None:
        self.peer = peer
        self._take = take
        self._deliveries = Deliveries()
        self._listening: asyncio.Task[None] | None = None

    async def send(self, message: Any) -> None:
        await self._deliveries.run(message, self._deliver(message))

    async def _deliver(self, message: Any) -> None:
        answer = self.peer.begin("POST", message)
        await answer.started()
        if "mcp-session-id" in answer.headers:
            self.peer.session = answer.headers["mcp-session-id"]
        if not is_request(message):
            assert ((await answer.complete()).status, answer.body) == (202, b"")
        elif answer.is_stream:
            while (reply := await answer.message()) is not None:
                self._take(reply)
        else:
            self._take((await answer.complete()).json)

    async def listen(self) -> None:
        answer = await self.peer.begin("GET").started()
        assert answer.is_stream, answer.status
        self._listening = asyncio.get_running_loop().create_task(self._follow(answer))

    async def _follow(self, answer: Any) -> None:
        while await answer.more():
            while answer._events:
                if (event := answer._events.popleft()).data:
                    self._take(json.loads(event.data))

    async def settled(self) -> None:
        await self._deliveries.settled()

    async def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        await self._deliveries.close()
        await self.peer.__aexit__(None, None, None)
