"""A server in a separate process, on pipes or on a socket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from tests.driving.answer import PATIENCE
from tests.driving.warm_python import warm_python

ROOT = Path(__file__).parents[2]


class StdioProcess:
    """Writes and reads lines, and collects standard error."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.errors = b""
        self._draining = asyncio.get_running_loop().create_task(self._drain())

    async def _drain(self) -> None:
        assert self.process.stderr is not None
        while data := await self.process.stderr.read(65536):
            self.errors += data

    async def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        await self.process.stdin.drain()

    async def send(self, message: Any) -> None:
        await self.write(json.dumps(message).encode() + b"\n")

    async def line(self) -> bytes:
        """The next line; empty at the end of the output."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            return await self.process.stdout.readline()

    async def receive(self) -> Any:
        line = await self.line()
        assert line, f"the server closed its output: {self.errors.decode()}"
        return json.loads(line)

    async def ask(self, message: Any) -> Any:
        await self.send(message)
        return await self.receive()

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    async def exit_code(self) -> int:
        async with asyncio.timeout(PATIENCE):
            code = await self.process.wait()
            await self._draining
        return code

    async def rest(self) -> list[Any]:
        """All remaining messages."""
        messages = []
        while line := await self.line():
            messages.append(json.loads(line))
        return messages


@contextlib.asynccontextmanager
async def stdio_process(*command: str, **options: Any) -> AsyncIterator[StdioProcess]:
    """Start Python with these arguments, and kill it in the end."""
    process = await asyncio.create_subprocess_exec(
        warm_python(), *command, cwd=ROOT, env=environment(), limit=1 << 23,
        **{"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE,
           "stderr": asyncio.subprocess.PIPE, **options},
    )  # fmt: skip
    server = StdioProcess(process)
    try:
        yield server
    finally:
        await _stop(process)
        await server._draining


@contextlib.asynccontextmanager
async def http_process(*command: str) -> AsyncIterator[str]:
    """Start Python with these arguments and yield the URL that it announces on standard output.

    The server must exit without an error after SIGTERM.
    """
    process = await asyncio.create_subprocess_exec(
        warm_python(), *command, cwd=ROOT, env=environment(), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(2 * PATIENCE):
            url = (await process.stdout.readline()).decode().strip()
        assert url.startswith("http://"), "the server did not start"
        yield url
        process.terminate()
        async with asyncio.timeout(PATIENCE):
            code = await process.wait()
        assert code in (0, -15), f"the server ended with {code}"
    finally:
        await _stop(process)


def environment() -> dict[str, str]:
    # Test the source of this repository, not an installed package; output is buffered, as it is by default.
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    return {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "error", "PYTHONUNBUFFERED": ""}


async def _stop(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    # Read to the end, so that no pipe is left open when the event loop closes.
    if process.stdin is not None:
        process.stdin.close()
    if process.stdout is not None:
        await process.stdout.read()
    await process.wait()


def script(path: Path, text: str) -> Sequence[str]:
    """Write a server to a file; returns the command that runs it."""
    path.write_text(text, "utf-8")
    return (str(path),)
