"""The scripted server on stdio: the client starts `pipe.py`, which connects its streams to this listener."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from itertools import count
from pathlib import Path
from typing import Final

from assay.lab.harness.links.connections import Connections
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.recorder import MAX_BYTES, Flooded
from assay.protocol.framing import lines

from .ordered_channel import DuplexChannel, MessageDispatcher
from .pipe import HEAD
from .server import ScriptedServer

PIPE: Final = Path(__file__).with_name("pipe.py")
ENDING: Final = 0.1
"""Seconds for the report of a server process that the client stopped just before it exited."""
STARTED, ENDED, SIGNALLED, KILLED = "started", "input ended", "signalled", "gone"
"""Marks about a server process of the client, which the channel names."""


class StdioListener:
    def __init__(self, server: ScriptedServer) -> None:
        self._server = server
        self._names = count(1)
        self._connections = Connections(self._connected)
        self._port = 0

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-I", "-S", str(PIPE), str(self._port)]

    async def start(self) -> None:
        self._port = await self._connections.listen()

    async def stop(self) -> None:
        await self._connections.stop(ENDING)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(Flooded):
            await PipeConnection(self._server, reader, writer, str(next(self._names))).serve()


class PipeConnection:
    """The connection to a server process that the client started."""

    def __init__(
        self, server: ScriptedServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, name: str
    ) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self._place = f"{name}/lines"
        self._buffer = bytearray()
        """An incomplete line."""
        self.channel = DuplexChannel(name, self._write_line, self.write, self.exit)
        self.channel.write_stderr = self.write_stderr
        self._dispatcher = MessageDispatcher(server, self.channel)

    async def serve(self) -> None:
        try:
            while True:
                kind, length = HEAD.unpack(await self._reader.readexactly(HEAD.size))
                await self._take(kind, await self._reader.readexactly(length))
        except asyncio.IncompleteReadError:
            self._mark(KILLED)
        finally:
            await self._dispatcher.end()

    async def _take(self, kind: bytes, data: bytes) -> None:
        match kind:
            case b"H":
                self._mark(STARTED, pid=int(data))
            case b"D":
                self._read(data)
            case b"E":
                self._read_end()
                if self._server.exit_on_end:
                    self.exit()
            case b"S":
                self._mark(SIGNALLED, signal=data.decode())
                if self._server.exit_on_signal:
                    self.exit()

    def _read(self, data: bytes) -> None:
        *ends, rest = data.split(b"\n")
        for end in ends:
            line = bytes(self._buffer) + end
            self._buffer.clear()
            self._record(Kind.LINE, line + b"\n")
            if line.strip():
                self._dispatcher.dispatch(line)
        self._buffer += rest
        if len(self._buffer) > MAX_BYTES:
            self._read_end()  # too long for the recorder, which raises Flooded

    def _read_end(self) -> None:
        if self._buffer:
            self._record(Kind.LINE, bytes(self._buffer))
        self._record(Kind.END, clean=not self._buffer)

    def _record(self, kind: Kind, raw: bytes = b"", **info: object) -> None:
        self._server.recorder.record(Sender.SUBJECT, self._place, kind, raw, **info)

    async def _write_line(self, body: bytes) -> None:
        await self.write(lines.frame(body))

    async def write(self, data: bytes) -> None:
        """Write bytes to standard output unchanged."""
        self._server.recorder.record(Sender.DRIVER, self._place, Kind.LINE, data)
        await self._send(b"D", data)

    async def write_stderr(self, data: bytes) -> None:
        """Write bytes to standard error."""
        await self._send(b"R", data)

    def exit(self, status: int = 0) -> None:
        """Make the process exit."""
        data = str(status).encode()
        self._writer.write(HEAD.pack(b"X", len(data)) + data)

    async def _send(self, kind: bytes, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            self._writer.write(HEAD.pack(kind, len(data)) + data)
            await self._writer.drain()

    def _mark(self, label: str, **info: object) -> None:
        self._server.recorder.mark(self._place, label, **info)
