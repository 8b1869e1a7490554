"""One client on standard input and output, one message per line.

The protocol owns both streams: a server MUST NOT write anything else to stdout (basic/transports#stdio).
While it runs, other output of the process goes to stderr, and other readers find stdin empty.
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

from assay.model.error import INVALID_REQUEST, STOPPING, MalformedMessage
from assay.protocol.codec import encode, error_reply
from assay.protocol.framing.lines import LineFramer, LineTooLong, frame
from assay.protocol.scope import Scope

from .port import Endpoint
from .startup import started_before

READ_SIZE = 64 * 1024
PENDING_LINES = 1024
"""Requests in progress before reading pauses."""
UNREAD_BYTES = 1024 * 1024
"""Unread output beyond which messages sent with `post` are dropped."""


def serve_stdio(endpoint: Endpoint) -> None:
    """Serve until the input ends, or SIGINT or SIGTERM arrives.

    Raises:
        LifespanFailed: the endpoint could not start.
        SystemExit: with code 130, after Ctrl-C.
    """
    with _private_streams() as (source, sink):
        received = asyncio.run(_serve(endpoint, source, sink))
    if received is signal.SIGINT:
        raise SystemExit(130)


async def _serve(endpoint: Endpoint, source: int, sink: int) -> signal.Signals | None:
    """Serve, and return the signal that ended it, if any."""
    writer = await open_writer(sink)
    stop = asyncio.Event()
    received = _stop_on_signals(stop)
    try:
        if await started_before(stop.wait, endpoint.start()):
            connection = StdioConnection(endpoint, writer)
            reading = await start_reading(source, connection, stop)
            await stop.wait()
            reading.close()
            await connection.drain()
        await endpoint.stop()
        await writer.close()
    except asyncio.CancelledError:
        if signal.SIGINT not in received:
            raise
    return received[0] if received else None


def _stop_on_signals(stop: asyncio.Event) -> list[signal.Signals]:
    received: list[signal.Signals] = []
    serving = asyncio.current_task()

    def on_signal(number: signal.Signals) -> None:
        received.append(number)
        if stop.is_set() and signal.SIGINT in received and serving is not None:
            serving.cancel()  # a second Ctrl-C does not wait for anything
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # not every platform has signals in its event loop
            asyncio.get_running_loop().add_signal_handler(number, on_signal, number)
    return received


class StdioConnection:
    """One client: splits its input into messages, and serves each in a separate task."""

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
        """Wait for requests in progress, up to the limit; then end the session, which answers the others with
        an error."""
        self._endpoint.end_listening()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._endpoint.limits.drain)
        self._endpoint.close_session(self._session, STOPPING)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1.0)


class StdioWriter(asyncio.BaseProtocol):
    """The sending side. No exception reaches a handler when the client is gone."""

    def __init__(self) -> None:
        self._transport: asyncio.WriteTransport | None = None
        self._file: int | None = None
        self._resumed = asyncio.Event()
        self._resumed.set()

    def use_file(self, descriptor: int) -> None:
        self._file = descriptor

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast, because not every event loop derives its transports from asyncio's classes.
        self._transport = cast(asyncio.WriteTransport, transport)

    def pause_writing(self) -> None:
        self._resumed.clear()

    def resume_writing(self) -> None:
        self._resumed.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._resumed.set()

    def post(self, message: bytes) -> None:
        """Send a message that belongs to no request. Without flow control, so unread output is bounded."""
        if self._transport is None or self._transport.get_write_buffer_size() <= UNREAD_BYTES:
            self._write(message)

    def _write(self, message: bytes) -> None:
        data = frame(message)
        if self._transport is not None:
            self._transport.write(data)
        elif self._file is not None:
            with contextlib.suppress(OSError):  # a full disk or a closed descriptor must not fail a handler
                os.write(self._file, data)

    async def send(self, message: bytes) -> None:
        self._write(message)
        if not self._resumed.is_set():
            await self._resumed.wait()

    async def close(self) -> None:
        """Flush the buffer, unless the client has stopped reading."""
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
        writer.use_file(descriptor)  # a regular file, which does not block
    return writer


class PipeReader:
    """The receiving side on a pipe; pauses while too many requests are in progress.

    It does not use asyncio's pipe transport, which allocates 256 KiB for every read: that can cost more than
    serving the message.
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
            data = b""  # a terminal that has gone ends the input
        if data:
            self._connection.feed(data)
            if self._connection.is_busy:
                self._loop.remove_reader(self._descriptor)
                self._waiting = self._loop.create_task(self._resume())
        else:
            self.close()
            self._connection.end()
            self._ended.set()

    async def _resume(self) -> None:
        await self._connection.idle.wait()
        if not self._closed:
            self._loop.add_reader(self._descriptor, self._read)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._loop.remove_reader(self._descriptor)


class ThreadReader:
    """The receiving side for input that the event loop cannot watch, such as a regular file."""

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
        """Nothing to do: the thread is a daemon, and ends with the process."""


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
    """Whether an event loop can wait for input here. It would never report the end of `/dev/null`."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


@contextlib.contextmanager
def _private_streams() -> Iterator[tuple[int, int]]:
    """Duplicate stdin and stdout for the protocol, and redirect 0 to the null device and 1 to stderr."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    sys.stdout.flush()  # earlier prints must go to stderr, not into the protocol
    try:
        yield source, sink
    finally:
        sys.stdout.flush()
        # Pipes were made non-blocking, and the parent process may share them.
        for private, public in ((source, 0), (sink, 1)):
            os.set_blocking(private, True)
            os.dup2(private, public)
            os.close(private)
        os.close(null)
