"""A saboteur on stdio as a command that a shell can run."""

from __future__ import annotations

import asyncio
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from assay.lab.harness.links.connections import Connections
from assay.lab.harness.links.split import Lines
from assay.lab.harness.links.stdio import Wire

from .subject import StdioSaboteur

GRACE: Final = 3.0
"""Seconds for answers after the end of the input."""
PROGRAM: Final = Path(__file__).with_name("pipe_program.py")


class CommandSaboteur:
    """Gives a saboteur a command as its name: each process of the command is a connection to it."""

    def __init__(self, subject: StdioSaboteur) -> None:
        self._subject = subject
        self._connections = Connections(self._serve)

    async def start(self) -> str:
        """Returns the command."""
        port = await self._connections.listen()
        return shlex.join((sys.executable, "-I", "-S", str(PROGRAM), str(port)))

    async def stop(self) -> None:
        await self._connections.stop()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = await self._subject.spawn(lambda line: None)
        answers = _Answers()
        feeding = asyncio.create_task(_feed(reader, wire, answers))
        try:
            while data := await wire.read():
                answers.received(data)
                writer.write(data)
                await writer.drain()
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
            await wire.stop()


async def _feed(reader: asyncio.StreamReader, wire: Wire, answers: _Answers) -> None:
    while data := await reader.read(65536):
        answers.sent(data)
        await wire.write(data)
    # A line keeps its input open for as long as the recorded answers took. While hundreds of lines run, the
    # machine may be slower.
    await answers.complete(GRACE)
    wire.end_input()


class _Answers:
    """Whether every request on a connection is answered, by its id."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._lines = Lines(), Lines()
        self._changed = asyncio.Event()

    def sent(self, data: bytes) -> None:
        messages = [decode(line) for line in self._lines[0].feed(data)]
        self._open |= {_id(message) for message in messages if "method" in message and "id" in message}

    def received(self, data: bytes) -> None:
        messages = [decode(line) for line in self._lines[1].feed(data)]
        self._open -= {_id(message) for message in messages if "method" not in message}
        self._changed.set()

    async def complete(self, limit: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                while self._open:
                    self._changed.clear()
                    await self._changed.wait()


def decode(line: bytes) -> dict[str, Any]:
    """The message of a line; empty if it is none."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _id(message: dict[str, Any]) -> str:
    return repr(message.get("id"))
