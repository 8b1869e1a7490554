"""One client on standard input and output, one message a line.

The protocol takes both streams for itself: while it runs, whatever else prints goes to standard
error, and whatever else reads standard input finds it empty.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from typing import cast

from assay.model.error import INVALID_REQUEST, MalformedMessage
from assay.protocol.codec import encode, error_reply
from assay.protocol.framing.lines import LineFramer, LineTooLong, frame
from assay.protocol.scope import Scope

from .port import Endpoint

READ_SIZE = 64 * 1024
PENDING_LINES = 1024
"""Requests in progress beyond which no more input is read until some have finished."""
UNREAD_BYTES = 1024 * 1024
"""Output that a client has not read, beyond which it misses what nobody waits for."""


def serve_stdio(endpoint: Endpoint) -> None:
    """Serve until input ends or the process is told to stop.

    Raises:
        SystemExit: with code 130, after Ctrl-C.
    """
    with _private_streams() as (source, sink):
        received = asyncio.run(_serve(endpoint, source, sink))
    if received is signal.SIGINT:
        raise SystemExit(130)


async def _serve(endpoint: Endpoint, source: int, sink: int) -> signal.Signals | None:
    """Serve, and return the signal that ended it, if one did."""
    writer = await open_writer(sink)
    connection = StdioConnection(endpoint, writer)
    stop = asyncio.Event()
    received = _stop_on_signals(stop)
    reading = await start_reading(source, connection, stop)
    await stop.wait()
    reading.close()
    await connection.drain()
    await endpoint.stop()
    await writer.close()
    return received[0] if received else None


def _stop_on_signals(stop: asyncio.Event) -> list[signal.Signals]:
    received: list[signal.Signals] = []

    def note(number: signal.Signals) -> None:
        received.append(number)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # not every platform has signals in its event loop
            asyncio.get_running_loop().add_signal_handler(number, note, number)
    return received


class StdioConnection:
    """One client: cuts its bytes into messages and serves each in a task of its own."""

    def __init__(self, endpoint: Endpoint, writer: StdioWriter) -> None:
        self._endpoint = endpoint
        self._writer = writer
        self._framer = LineFramer(endpoint.limits.message_bytes)
        self._tasks: set[asyncio.Task[None]] = set()
        self._session = endpoint.open_session(writer.post)
        self._scope = Scope(transport="stdio", session=self._session)
        self.idle = asyncio.Event()
        self.idle.set()

    @property
    def is_busy(self) -> bool:
        return len(self._tasks) >= PENDING_LINES

    def feed(self, data: bytes) -> None:
        for line in self._framer.feed(data):
            self._begin(line)

    def end(self) -> None:
        for line in self._framer.end():
            self._begin(line)

    def _begin(self, line: bytes | LineTooLong) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(line))
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        if self.is_busy:
            self.idle.clear()

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not self.is_busy:
            self.idle.set()

    async def _serve(self, line: bytes | LineTooLong) -> None:
        if isinstance(line, LineTooLong):
            error = MalformedMessage(INVALID_REQUEST, f"line too long: limit {line.limit} bytes")
            return await self._writer.send(encode(error_reply(error, None)))
        reply = await self._endpoint.handle(line, send=self._writer.send, scope=self._scope)
        if reply is not None:
            await self._writer.send(reply)
        return None

    async def drain(self) -> None:
        """Let what runs finish, for a while; then end the session, which cancels the rest."""
        self._endpoint.end_listening()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._endpoint.limits.drain)
        self._endpoint.close_session(self._session)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1.0)


class StdioWriter(asyncio.BaseProtocol):
    """The sending side. A client that is gone, or never reads, fails no handler."""

    def __init__(self) -> None:
        self._transport: asyncio.WriteTransport | None = None
        self._file: int | None = None
        self._resumed = asyncio.Event()
        self._resumed.set()

    def use_file(self, descriptor: int) -> None:
        self._file = descriptor

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not every event loop derives its transports from asyncio's classes.
        self._transport = cast(asyncio.WriteTransport, transport)

    def pause_writing(self) -> None:
        self._resumed.clear()

    def resume_writing(self) -> None:
        self._resumed.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._resumed.set()

    def post(self, message: bytes) -> None:
        """Send what belongs to no request. Nobody waits for it, so only a bound keeps it from piling up."""
        if self._transport is None or self._transport.get_write_buffer_size() <= UNREAD_BYTES:
            self._write(message)

    def _write(self, message: bytes) -> None:
        data = frame(message)
        if self._transport is not None:
            self._transport.write(data)
        elif self._file is not None:
            with contextlib.suppress(OSError):  # a full disk or a closed descriptor is the client's loss
                os.write(self._file, data)

    async def send(self, message: bytes) -> None:
        self._write(message)
        if not self._resumed.is_set():
            await self._resumed.wait()

    async def close(self) -> None:
        """Flush what is buffered, unless the client has stopped reading."""
        if self._transport is not None:
            self._transport.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    while self._transport is not None:
                        self._resumed.clear()
                        await self._resumed.wait()


async def open_writer(descriptor: int) -> StdioWriter:
    writer = StdioWriter()
    loop = asyncio.get_running_loop()
    try:
        await loop.connect_write_pipe(lambda: writer, os.fdopen(descriptor, "wb", buffering=0, closefd=False))
    except (ValueError, OSError, NotImplementedError):
        writer.use_file(descriptor)  # a regular file: never blocks for long
    return writer


class PipeReader:
    """The receiving side on a pipe; holds back input while too much is in progress.

    It reads by itself instead of through asyncio's pipe transport, whose buffer of 256 KiB is large
    enough that getting and giving it back can cost more than the message.
    """

    def __init__(self, descriptor: int, connection: StdioConnection, ended: asyncio.Event) -> None:
        self._descriptor = descriptor
        self._connection = connection
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Task[None] | None = None
        self._closed = False
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""  # a terminal that went away ends the input like any other end
        if data:
            self._connection.feed(data)
            if self._connection.is_busy:
                self._loop.remove_reader(self._descriptor)
                self._waiting = self._loop.create_task(self._go_on())
        else:
            self.close()
            self._connection.end()
            self._ended.set()

    async def _go_on(self) -> None:
        await self._connection.idle.wait()
        if not self._closed:
            self._loop.add_reader(self._descriptor, self._read)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._loop.remove_reader(self._descriptor)


class ThreadReader:
    """The receiving side where the event loop cannot watch the input, such as a regular file."""

    def __init__(self, descriptor: int, connection: StdioConnection, ended: asyncio.Event) -> None:
        self._descriptor = descriptor
        self._connection = connection
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="assay-stdin", daemon=True).start()

    def _read(self) -> None:
        while data := os.read(self._descriptor, READ_SIZE):
            asyncio.run_coroutine_threadsafe(self._take(data), self._loop).result()
        self._loop.call_soon_threadsafe(self._finish)

    async def _take(self, data: bytes) -> None:
        self._connection.feed(data)
        await self._connection.idle.wait()

    def _finish(self) -> None:
        self._connection.end()
        self._ended.set()

    def close(self) -> None:
        """The thread is a daemon: it ends with the process."""


async def start_reading(
    descriptor: int, connection: StdioConnection, ended: asyncio.Event
) -> PipeReader | ThreadReader:
    if not _can_be_watched(descriptor):
        return ThreadReader(descriptor, connection, ended)
    try:
        return PipeReader(descriptor, connection, ended)
    except (OSError, NotImplementedError):
        return ThreadReader(descriptor, connection, ended)


def _can_be_watched(descriptor: int) -> bool:
    """Whether an event loop can wait for input here. It accepts `/dev/null` too, and then waits for ever."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


@contextlib.contextmanager
def _private_streams() -> Iterator[tuple[int, int]]:
    """Descriptors that only the protocol has; 0 and 1 lead elsewhere meanwhile."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.stdout.flush()  # what was printed before goes where prints go, not into the protocol
    try:
        yield source, sink
    finally:
        sys.stdout.flush()
        # Pipes were made non-blocking, and they may be shared with whoever started us.
        for private, public in ((source, 0), (sink, 1)):
            os.set_blocking(private, True)
            os.dup2(private, public)
            os.close(private)
        os.close(nothing)
