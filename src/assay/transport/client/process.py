"""The process of a server in an event loop: its pipes, its end, and signals to it and what it started."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from functools import partial
from subprocess import Popen
from threading import Thread
from typing import IO, Any, Final, Protocol, cast

READ_BYTES: Final = 64 * 1024


class ProcessEvents(Protocol):
    """Takes what a process writes, and its end; the names are those of `asyncio.SubprocessProtocol`."""

    def pipe_data_received(self, fd: int, data: bytes) -> None: ...

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None: ...

    def process_exited(self) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...


class ServerProcess(Protocol):
    stdin: asyncio.WriteTransport

    @property
    def returncode(self) -> int | None: ...

    def signal(self, number: int) -> None:
        """Signal the process and what it started."""

    def pause(self) -> None:
        """Stop reading standard output."""

    def close(self) -> None:
        """Let go of the pipes."""

    def forget(self) -> None:
        """Stop waiting for the end."""


class PosixProcess:
    """A process that runs already. asyncio can only start one itself, with a thread that waits for its end,
    and its reader allocates four times as much for each read, which takes longer than the read itself."""

    stdin: asyncio.WriteTransport

    def __init__(self, process: Popen[bytes], events: ProcessEvents) -> None:
        self._process = process
        self._events = events
        self._outputs = [
            _Output(process.stdout, partial(events.pipe_data_received, 1), self._end_of(1)),
            _Output(process.stderr, partial(events.pipe_data_received, 2), self._end_of(2)),
        ]
        self._loop = asyncio.get_running_loop()
        self._descriptor: int | None = None

    def _end_of(self, number: int) -> Callable[[], None]:
        return partial(self._events.pipe_connection_lost, number, None)

    async def attach(self) -> None:
        stdin, _ = await self._loop.connect_write_pipe(lambda: _Input(self._events), self._process.stdin)
        self.stdin = stdin
        for output in self._outputs:
            output.resume()
        try:
            self._descriptor = os.pidfd_open(self._process.pid)
        except (AttributeError, OSError):  # not Linux, an old kernel, or no descriptor is left
            Thread(target=self._wait, name="assay-child", daemon=True).start()
        else:
            self._loop.add_reader(self._descriptor, self._on_exit)

    def _wait(self) -> None:
        self._process.wait()
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(self._on_exit)

    def _on_exit(self) -> None:
        self.forget()
        self._process.poll()
        self._events.process_exited()

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def pause(self) -> None:
        self._outputs[0].pause()

    def close(self) -> None:
        for output in self._outputs:
            output.close()
        if not hasattr(self, "stdin"):
            cast(IO[bytes], self._process.stdin).close()
        elif not self.stdin.is_closing() or self.stdin.get_write_buffer_size():
            self.stdin.abort()

    def forget(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)


class AsyncioProcess:
    """A process that the event loop has started: on Windows."""

    def __init__(self, transport: asyncio.SubprocessTransport) -> None:
        self._transport = transport
        self.stdin = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))

    @property
    def returncode(self) -> int | None:
        return self._transport.get_returncode()

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            self._transport.send_signal(number)

    def pause(self) -> None:
        cast(asyncio.ReadTransport, self._transport.get_pipe_transport(1)).pause_reading()

    def close(self) -> None:
        self._transport.close()

    def forget(self) -> None:
        return


class _Input(asyncio.BaseProtocol):
    def __init__(self, events: ProcessEvents) -> None:
        self._events = events
        self.pause_writing, self.resume_writing = events.pause_writing, events.resume_writing  # type: ignore[method-assign]

    def connection_lost(self, exc: Exception | None) -> None:
        self._events.pipe_connection_lost(0, exc)


class _Output:
    """A pipe that the process writes to."""

    def __init__(
        self, pipe: IO[Any] | None, on_data: Callable[[bytes], None], on_end: Callable[[], None]
    ) -> None:
        self._pipe = cast(IO[bytes], pipe)
        self._descriptor = self._pipe.fileno()
        os.set_blocking(self._descriptor, False)
        self._on_data = on_data
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()

    def resume(self) -> None:
        self._loop.add_reader(self._descriptor, self._read)

    def pause(self) -> None:
        if not self._pipe.closed:
            self._loop.remove_reader(self._descriptor)

    def close(self) -> None:
        self.pause()
        self._pipe.close()

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, READ_BYTES)
        except BlockingIOError:
            return
        if data:
            self._on_data(data)
        else:
            self.close()
            self._on_end()
