"""Ctrl-C, programs that end without closing, and closing from unusual places."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from assay import Client, ClientClosed, ClientLimits, Context, LogMessage, Server, StateChange, SyncClient
from tests.client.scripted import DISCOVERY, INITIALIZED, PROCESS, process
from tests.client.test_closing import descriptors, gone
from tests.driving.answer import PATIENCE
from tests.driving.process import ROOT, environment

STUBBORN = PROCESS % (DISCOVERY, INITIALIZED) + (
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "for message in messages():\n"
    "    if message['method'] == 'tools/call': print('called', file=sys.stderr, flush=True)\n"
    "    else: answer(message, {'pid': os.getpid()})\n"
    "while True: signal.pause()"
)
"""A server that does not answer calls, and ends by no polite means."""
BEGIN = f"""
import asyncio, signal, sys
from assay import Client, ClientLimits, Stdio, SyncClient
signal.signal(signal.SIGINT, signal.default_int_handler)
target = Stdio(sys.executable, "-c", {STUBBORN!r})
limits = ClientLimits(close_timeout=0.2)
"""
ASYNC = """
async def main():
    async with Client(target, limits=limits) as client:
        print((await client.request("com.example/pid"))["pid"], flush=True)
        await client.call("for ever")
asyncio.run(main())
"""
SYNC = """
with SyncClient(target, limits=limits) as client:
    print(client.request("com.example/pid")["pid"], flush=True)
    client.call("for ever")
"""
FORGOTTEN = """
client = SyncClient(target, limits=limits).open()
print(client.request("com.example/pid")["pid"], flush=True)
"""


def started(script: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", BEGIN + script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        cwd=ROOT,
    )


@pytest.mark.parametrize("script", [ASYNC, SYNC], ids=["async", "sync"])
async def test_an_interrupted_program_ends_soon_and_its_server_with_it(script: str) -> None:
    with started(script) as program:
        assert program.stdout is not None
        pid = int(program.stdout.readline())
        program.send_signal(signal.SIGINT)
        _, errors = program.communicate(timeout=3 * PATIENCE)
    assert program.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert "never retrieved" not in errors and "was destroyed" not in errors
    await gone(pid)


async def test_a_program_that_ends_without_closing_leaves_no_server() -> None:
    with started(FORGOTTEN) as program:
        output, errors = program.communicate(timeout=3 * PATIENCE)
    assert (program.returncode, errors) == (0, "")
    await gone(int(output))


async def test_a_client_that_is_dropped_without_closing_leaves_no_thread_and_no_server() -> None:
    target = process("for message in messages(): answer(message, {'pid': os.getpid()})")
    gc.collect()  # what earlier tests dropped
    threads, files = set(threading.enumerate()), descriptors()
    client = SyncClient(target).open()
    pid = client.request("com.example/pid")["pid"]
    del client
    gc.collect()
    assert not set(threading.enumerate()) - threads
    assert descriptors() == files
    await gone(pid)


def test_threads_may_close_while_others_call() -> None:
    target = process("for message in messages(): pass")
    client = SyncClient(target, limits=ClientLimits(close_timeout=0.3)).open()
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(client.call, "for ever") for _ in range(4)]
        closings = [pool.submit(client.close) for _ in range(4)]
        for closing in closings:
            closing.result(PATIENCE)
        for call in calls:
            with pytest.raises(ClientClosed):
                call.result(PATIENCE)
    with pytest.raises(ClientClosed):
        client.tools()


def test_a_sync_client_may_be_opened_again() -> None:
    client = SyncClient(Server("again", capabilities={"tools": True}))
    for _ in range(2):
        with client:
            assert client.tools() == []


def test_a_callback_that_closes_its_sync_client_is_refused() -> None:
    problems: list[Exception] = []

    def close(message: LogMessage) -> None:
        try:
            client.close()
        except RuntimeError as error:
            problems.append(error)

    server = Server("talks")

    @server.tool
    async def talk(ctx: Context) -> str:
        await ctx.info("hello")
        return "done"

    with SyncClient(server, on_log=close) as client:
        assert client.call("talk").text == "done"
    assert "cannot call it" in str(problems[0])


def talkative() -> Server:
    server = Server("talks")

    @server.tool
    async def talk(ctx: Context) -> str:
        await ctx.info("hello")
        await asyncio.get_running_loop().create_future()
        return "never"

    return server


async def test_a_callback_may_close_the_client() -> None:
    async def close(message: LogMessage) -> None:
        await client.close()

    async with asyncio.timeout(2 * PATIENCE):
        client = await Client(talkative(), on_log=close, limits=ClientLimits(close_timeout=0.2)).open()
        with pytest.raises((ClientClosed, asyncio.CancelledError)):
            await client.call("talk")
        await client.close()
    assert not client.is_open


async def test_a_callback_for_states_may_close_the_client() -> None:
    async def close(change: StateChange) -> None:
        changes.append(change)
        if change.state.value == "open":
            await client.close()

    changes: list[Any] = []
    async with asyncio.timeout(2 * PATIENCE):
        client = await Client(Server("x"), on_state=close, limits=ClientLimits(close_timeout=0.2)).open()
        await client.close()
    assert not client.is_open
