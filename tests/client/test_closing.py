"""Closing: from any task, in bounded time, and nothing is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay import Client, ClientClosed, ClientLimits, ConnectionFailed, Context, Server, SyncClient
from assay.revisions.registry import DATES
from tests.client.everything import TRANSPORTS, python
from tests.client.scripted import HttpRequest, Writer, answering, process, raw_http
from tests.driving.answer import PATIENCE

NEWEST, BEFORE = DATES[-1], DATES[-2]
transports = pytest.mark.parametrize("transport", TRANSPORTS)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@contextlib.contextmanager
def nothing_left() -> Iterator[None]:
    """Counts tasks and file descriptors before and after."""
    gc.collect()
    tasks, files = len(asyncio.all_tasks()), descriptors()
    yield
    assert len(asyncio.all_tasks()) == tasks
    assert descriptors() == files


@contextlib.asynccontextmanager
async def warmed(transport: str) -> AsyncIterator[Any]:
    """A target that was used once: what servers and pools keep is not counted."""
    async with TRANSPORTS[transport]() as target:
        async with Client(target) as client:
            await client.tools()
        yield target


@transports
@pytest.mark.parametrize("revision", [BEFORE, NEWEST])
async def test_tasks_sockets_and_pipes_are_gone_after_closing(transport: str, revision: str) -> None:
    async with warmed(transport) as target:
        files = descriptors()
        for _ in range(3):
            client = Client(target, revision=revision, on_change=print, elicitation=lambda request: None)
            async with client:
                await asyncio.gather(*(client.call("test_simple_text") for _ in range(5)))
            assert not client.is_open
        assert not [task for task in asyncio.all_tasks() if "assay/client" in repr(task)]
        async with asyncio.timeout(PATIENCE):
            while descriptors() > files:  # the server's ends of the sockets close a little later
                await asyncio.get_running_loop().run_in_executor(None, os.sched_yield)


async def test_closing_ends_calls_in_progress() -> None:
    target = process("for message in messages(): print('running', file=sys.stderr, flush=True)")
    client = Client(target)
    await client.open()
    calls = [asyncio.create_task(client.call("slow")) for _ in range(3)]
    with nothing_ends(calls):
        await asyncio.wait(calls, timeout=0.01)
    await client.close()
    for call in calls:
        with pytest.raises(ClientClosed):
            await call


@contextlib.contextmanager
def nothing_ends(tasks: list[asyncio.Task[Any]]) -> Iterator[None]:
    yield
    assert not any(task.done() for task in tasks)


@transports
async def test_another_task_than_the_one_that_opened_may_close(transport: str) -> None:
    async with TRANSPORTS[transport]() as target:
        client = Client(target)
        await asyncio.create_task(client.open())
        assert await client.tools()
        async with asyncio.timeout(2 * PATIENCE):
            await asyncio.gather(*(asyncio.create_task(client.close()) for _ in range(3)))
        with pytest.raises(ClientClosed, match="inside `async with Client"):
            await client.tools()
        await client.close()


async def test_a_client_may_be_opened_again() -> None:
    client = Client(Server("again", capabilities={"tools": True}))
    for _ in range(2):
        async with client:
            assert await client.tools() == []
            with pytest.raises(Exception, match="already open"):
                await client.open()


async def test_a_child_that_ignores_signals_is_killed_in_bounded_time() -> None:
    target = process(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "for message in messages(): answer(message, {'pid': os.getpid()})\n"
        "while True: signal.pause()"
    )
    with nothing_left():
        async with Client(target, limits=ClientLimits(close_timeout=0.2)) as client:
            pid = (await client.request("com.example/pid"))["pid"]
            start = time.monotonic()
        assert time.monotonic() - start < 2.0
        await gone(pid)


async def test_what_the_child_started_ends_with_it() -> None:
    import sys

    from assay import Stdio
    from tests.client.scripted import DISCOVERY, INITIALIZED, PROCESS

    script = (
        "import subprocess\n"
        "below = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        "for message in messages(): answer(message, {'pid': below.pid})"
    )
    # Not a warm process, whose children belong to the fork server.
    target = Stdio(sys.executable, "-c", PROCESS % (DISCOVERY, INITIALIZED) + script)
    async with Client(target, limits=ClientLimits(close_timeout=0.5)) as client:
        pid = (await client.request("com.example/pid"))["pid"]
    await gone(pid)


async def gone(pid: int) -> None:
    """Wait until a process has ended; an orphan may stay a zombie for its adoptive parent to collect."""
    async with asyncio.timeout(PATIENCE):
        while _is_running(pid):
            await asyncio.get_running_loop().run_in_executor(None, os.sched_yield)


def _is_running(pid: int) -> bool:
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


async def test_a_server_that_does_not_answer_does_not_delay_closing() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        pass

    async with raw_http(answering(respond)) as server:
        with nothing_left_but_server(server.connections):
            client = await Client(server.url, limits=ClientLimits(close_timeout=0.2)).open()
            call = asyncio.create_task(client.call("slow"))
            await asyncio.wait([call], timeout=0.05)
            async with asyncio.timeout(PATIENCE):
                await client.close()
            with pytest.raises(ClientClosed):
                await call


@contextlib.contextmanager
def nothing_left_but_server(connections: list[Writer]) -> Iterator[None]:
    yield
    assert connections  # the client did connect
    assert not [task for task in asyncio.all_tasks() if "assay/client" in repr(task)]


async def test_a_failed_opening_leaves_nothing() -> None:
    target = python("-c", "import sys; sys.exit(1)")
    with pytest.raises(ConnectionFailed):
        await Client(target).open()
    with nothing_left():
        for _ in range(3):
            with pytest.raises(ConnectionFailed):
                await Client(target).open()


async def test_an_opening_that_is_cancelled_leaves_nothing() -> None:
    target = python("-c", "import signal; signal.pause()")
    limits = ClientLimits(close_timeout=0.2)
    with nothing_left():
        opening = asyncio.create_task(Client(target, limits=limits).open())
        await asyncio.wait([opening], timeout=0.3)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening


async def test_many_clients_in_a_row_leave_nothing() -> None:
    server = Server("flat")

    @server.tool
    async def wait(ctx: Context) -> str:
        return "done"

    async with Client(server) as client:
        await client.call("wait")
    with nothing_left():
        for _ in range(300):
            async with Client(server) as client:
                await client.call("wait")


def test_the_sync_client_leaves_no_thread() -> None:
    # Threads of earlier tests may end meanwhile.
    threads, files = set(threading.enumerate()), descriptors()
    for _ in range(3):
        with SyncClient(Server("sync", capabilities={"tools": True})) as client:
            assert client.tools() == []
            assert len(set(threading.enumerate()) - threads) == 1
        assert not set(threading.enumerate()) - threads
    assert descriptors() == files
