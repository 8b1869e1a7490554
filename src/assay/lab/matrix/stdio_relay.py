"""Passes lines between a client and the server process that it believes to have started.

The client starts `pipe.py`, which connects its standard streams to this listener; the server is started here.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

from assay.lab.harness.links.broken_off import NotRunnable
from assay.lab.harness.links.connections import Connections
from assay.lab.harness.links.split import Lines
from assay.lab.harness.scripted_server.pipe import HEAD
from assay.lab.harness.scripted_server.stdio_listener import KILLED, PIPE, SIGNALLED, STARTED
from assay.lab.harness.subject.process import Process
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.recorder import MAX_BYTES, Flooded, Recorder

ENDING: Final = 1.0
"""Seconds for a server to exit after the client."""
SIGNAL_BASE: Final = 128


class StdioRelay:
    def __init__(self, recorder: Recorder, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._recorder = recorder
        self._server = tuple(command)
        self._environment = environment
        self._names = count(1)
        self._connections = Connections(self._connected)
        self._port = 0
        self.problem = ""
        """Why the server could not be started."""
        self.tail: list[str] = []
        """The last lines of standard error of the servers."""

    @property
    def command(self) -> list[str]:
        """The command for the client."""
        return [sys.executable, "-I", "-S", str(PIPE), str(self._port)]

    async def start(self) -> None:
        self._port = await self._connections.listen()

    async def stop(self) -> None:
        await self._connections.stop(ENDING)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        conversation = _Conversation(self._recorder, str(next(self._names)), reader, writer)
        try:
            process = await Process.start(
                self._server, on_error=conversation.take_error, environment=self._environment
            )
        except NotRunnable as reason:
            self.problem = str(reason)
            return
        try:
            with contextlib.suppress(Flooded):
                await conversation.relay(process)
        finally:
            await process.stop()
            self.tail += process.tail


class _Conversation:
    """One process of the server, with the client's standard streams."""

    def __init__(
        self, recorder: Recorder, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._recorder = recorder
        self._lines = f"{name}/lines"
        self._errors = f"{name}/errors"
        self._reader = reader
        self._writer = writer
        self._unfinished = {Sender.DRIVER: Lines(), Sender.SUBJECT: Lines()}

    async def relay(self, process: Process) -> None:
        """Pass on both directions until the process has exited, or the client is gone."""
        serving = asyncio.create_task(self._from_server(process))
        asking = asyncio.create_task(self._from_client(process))
        try:
            done, _ = await asyncio.wait({serving, asking}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in (serving, asking):
                task.cancel()
            await asyncio.gather(serving, asking, return_exceptions=True)

    async def _from_client(self, process: Process) -> None:
        try:
            while True:
                kind, length = HEAD.unpack(await self._reader.readexactly(HEAD.size))
                data = await self._reader.readexactly(length)
                with contextlib.suppress(ConnectionError, RuntimeError):  # it no longer reads
                    await self._take(kind, data, process)
        except asyncio.IncompleteReadError:
            self._recorder.mark(self._lines, KILLED)

    async def _take(self, kind: bytes, data: bytes, process: Process) -> None:
        match kind:
            case b"H":
                self._recorder.mark(self._lines, STARTED, pid=int(data))
            case b"D":
                self._record_lines(Sender.DRIVER, data)
                await process.write(data)
            case b"E":
                self._record_end(Sender.DRIVER)
                process.end_input()
            case b"S":
                self._recorder.mark(self._lines, SIGNALLED, signal=data.decode())
                process.terminate()

    async def _from_server(self, process: Process) -> None:
        while data := await process.read():
            self._record_lines(Sender.SUBJECT, data)
            await self._send(b"D", data)
        self._record_end(Sender.SUBJECT)
        status = await process.wait()
        self._record(Sender.SUBJECT, Kind.EXIT, status=status)
        code = status if status >= 0 else SIGNAL_BASE - status
        await self._send(b"X", str(code).encode())

    def take_error(self, line: bytes) -> None:
        with contextlib.suppress(Flooded):
            self._recorder.record(Sender.SUBJECT, self._errors, Kind.ERRORS, line)
        data = line + b"\n"
        if not self._writer.is_closing():
            self._writer.write(HEAD.pack(b"R", len(data)) + data)

    def _record_lines(self, sender: Sender, data: bytes) -> None:
        lines = self._unfinished[sender]
        for line in lines.feed(data):
            self._record(sender, Kind.LINE, line + b"\n")
        if len(lines) > MAX_BYTES:
            raise Flooded

    def _record_end(self, sender: Sender) -> None:
        rest = self._unfinished[sender].rest
        if rest:
            self._record(sender, Kind.LINE, rest)
        self._record(sender, Kind.END, clean=not rest)

    def _record(self, sender: Sender, kind: Kind, raw: bytes = b"", **info: Any) -> None:
        self._recorder.record(sender, self._lines, kind, raw, **info)

    async def _send(self, kind: bytes, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            if not self._writer.is_closing():
                self._writer.write(HEAD.pack(kind, len(data)) + data)
            await self._writer.drain()
