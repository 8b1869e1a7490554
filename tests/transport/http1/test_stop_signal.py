"""Signals that stop a server, in this process and in a child process."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from assay.transport.http1.stop_signal import SIGNALS, StopSignal
from tests.driving.answer import PATIENCE
from tests.driving.process import ROOT, environment
from tests.transport.http1.memory_client import get, post, settle

STUCK = """
import asyncio, sys
from assay import Limits, Server

server = Server("stuck", limits=Limits(drain=float(sys.argv[1])))

@server.tool
async def wait_for_ever() -> str:
    print("begun", flush=True)
    await asyncio.Event().wait()
    return "never"

server.run("http", port=0, announce=lambda url: print(url, flush=True))
"""
CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait_for_ever"}}'
TYPES = (b"accept: application/json, text/event-stream", b"content-type: application/json")


@pytest.mark.parametrize(("number", "interrupted"), [(signal.SIGTERM, False), (signal.SIGINT, True)])
async def test_signal_stops_and_the_handlers_are_restored(number: int, interrupted: bool) -> None:
    before = [signal.getsignal(each) for each in SIGNALS]
    with StopSignal() as stop:
        waiting = asyncio.ensure_future(stop.wait())
        signal.raise_signal(number)
        async with asyncio.timeout(PATIENCE):
            await waiting
        assert stop.interrupted is interrupted
    assert [signal.getsignal(each) for each in SIGNALS] == before


@pytest.mark.parametrize(
    ("first", "second", "impatient"),
    [
        (signal.SIGINT, signal.SIGINT, True),
        (signal.SIGTERM, signal.SIGINT, True),
        (signal.SIGTERM, signal.SIGTERM, False),
    ],
)
async def test_second_ctrl_c_does_not_wait(first: int, second: int, impatient: bool) -> None:
    async def main() -> str:
        with StopSignal() as stop:
            signal.raise_signal(first)
            await stop.wait()
            signal.raise_signal(second)
            try:
                await settle()
            except asyncio.CancelledError:
                return "cut short"
            return "in order"

    running = asyncio.ensure_future(main())
    async with asyncio.timeout(PATIENCE):
        assert await running == ("cut short" if impatient else "in order")


async def test_ctrl_c_is_remembered_after_another_signal() -> None:
    with StopSignal() as stop:
        signal.raise_signal(signal.SIGINT)
        await stop.wait()
        stop._task = None  # this test continues
        signal.raise_signal(signal.SIGTERM)
        assert stop.interrupted


def test_other_threads_handle_no_signals() -> None:
    before = [signal.getsignal(each) for each in SIGNALS]
    failed: list[BaseException] = []

    async def main() -> None:
        with StopSignal():
            assert [signal.getsignal(each) for each in SIGNALS] == before

    def run() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(PATIENCE)
    assert (thread.is_alive(), failed) == (False, [])


class Process:
    """A server with one endless call and one idle connection."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.busy: asyncio.StreamReader
        self.idle: asyncio.StreamReader

    async def line(self) -> str:
        assert self._process.stdout is not None
        async with asyncio.timeout(2 * PATIENCE):
            return (await self._process.stdout.readline()).decode().strip()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    async def ended(self) -> tuple[int, bytes]:
        """The exit code and standard error."""
        assert self._process.stderr is not None
        async with asyncio.timeout(2 * PATIENCE):
            errors = await self._process.stderr.read()
            return await self._process.wait(), errors


@contextlib.asynccontextmanager
async def stuck(path: Path, drain: float) -> AsyncIterator[Process]:
    path.write_text(STUCK, "utf-8")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(path), str(drain), cwd=ROOT, env=environment(), stdout=pipe, stderr=pipe
    )
    driven = Process(process)
    writers = []
    try:
        port = urlsplit(await driven.line()).port
        driven.idle, writer = await asyncio.open_connection("127.0.0.1", port)
        writers.append(writer)
        writer.write(get())
        assert (await driven.idle.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 404 ")
        driven.busy, writer = await asyncio.open_connection("127.0.0.1", port)
        writers.append(writer)
        writer.write(post(CALL, *TYPES, target=b"/mcp"))
        assert await driven.line() == "begun"
        yield driven
    finally:
        for writer in writers:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
async def test_stuck_call_ends_after_the_drain_time(tmp_path: Path, number: int, code: int) -> None:
    async with stuck(tmp_path / "stuck.py", drain=0.2) as process:
        process.signal(number)
        assert await process.ended() == (code, b"")


async def test_second_ctrl_c_ends_the_process_at_once(tmp_path: Path) -> None:
    async with stuck(tmp_path / "stuck.py", drain=600.0) as process:
        process.signal(signal.SIGINT)
        # The first one closes idle connections.
        async with asyncio.timeout(PATIENCE):
            assert await process.idle.read() == b""
        process.signal(signal.SIGINT)
        assert await process.ended() == (130, b"")
