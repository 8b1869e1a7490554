"""HTTP clients leave nothing behind on our own server, however they behave and disconnect."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assay import Context, Limits, Server
from tests.driving.answer import PATIENCE
from tests.driving.hosts import on_assay
from tests.driving.messages import call
from tests.load.gauge import Held, returned_to, tracing, until
from tests.transport.http1.memory_client import get, post

# Slow on a busy machine. Each wait inside has its own, shorter timeout.
pytestmark = [pytest.mark.long, pytest.mark.timeout(120)]
CONNECTIONS = 250
CONCURRENT = 25
MESSAGE_BYTES = 200_000
TYPES = (b"accept: application/json, text/event-stream", b"content-type: application/json")


@pytest.fixture(autouse=True)
def traced() -> Iterator[None]:
    with tracing():
        yield


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweep often, because the timeouts are short here."""
    monkeypatch.setattr("assay.transport.http1.server_state.SWEEP_INTERVAL", 0.05)
    monkeypatch.setattr("assay.transport.http1.channel.LINGER", 0.05)


class Subject:
    def __init__(self) -> None:
        limits = Limits(
            message_bytes=MESSAGE_BYTES, drain=0.5, head_timeout=1.0, keep_alive=5.0, write_timeout=0.3
        )
        self.server = Server("load", limits=limits)
        self.app = self.server.asgi()
        self.waiting = 0
        self.poured = 0
        self.release = asyncio.Event()
        for tool in (self.echo, self.hold, self.pour):
            self.server.tool(tool)

    async def echo(self, text: str) -> str:
        return text

    async def hold(self, ctx: Context) -> str:
        """Runs on after the client has disconnected."""
        self.waiting += 1
        await ctx.log("info", "begun")
        await self.release.wait()
        self.waiting -= 1
        return "done"

    async def pour(self, ctx: Context) -> str:
        """Send much more than any buffer holds."""
        for _ in range(200):
            await ctx.log("info", "x" * 50_000)
        self.poured += 1
        return "done"


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def ask(self, tool: str, **arguments: Any) -> None:
        body = json.dumps(call(tool, **arguments)).encode()
        self.write(post(body, *TYPES, target=b"/mcp"))

    async def ask_and_drain(self, tool: str, **arguments: Any) -> None:
        self.ask(tool, **arguments)
        await self._writer.drain()

    def write(self, data: bytes) -> None:
        self._writer.write(data)

    def read_nothing(self) -> None:
        self._writer.transport.pause_reading()  # type: ignore[attr-defined]

    async def until(self, text: bytes) -> bytes:
        async with asyncio.timeout(2 * PATIENCE):
            return await self._reader.readuntil(text)

    async def to_the_end(self) -> bytes:
        async with asyncio.timeout(2 * PATIENCE):
            return await self._reader.read()

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def reset(self) -> None:
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await self.close()


# How clients behave


async def behave_well(client: Client) -> None:
    for _ in range(3):
        client.ask("echo", text="hello")
        await client.until(b"hello")
    await client.close()


async def stay_silent(client: Client) -> None:
    assert await client.to_the_end() == b""
    await client.close()


async def stop_in_the_head(client: Client) -> None:
    client.write(get()[:-1])
    assert b" 408 " in await client.to_the_end()
    await client.close()


async def reset_in_the_head(client: Client) -> None:
    client.write(get()[:-1])
    await client.reset()


async def reset_in_the_body(client: Client) -> None:
    client.write(post(b"x" * 100_000, *TYPES, target=b"/mcp")[:-1])
    await client.reset()


async def send_too_much(client: Client) -> None:
    client.write(post(b"x" * (2 * MESSAGE_BYTES), *TYPES, target=b"/mcp")[:-1])
    assert b" 413 " in await client.to_the_end()
    await client.close()


async def send_garbage(client: Client) -> None:
    client.ask("echo", text="hello")
    client.write(b"hello\r\n\r\n")
    assert b" 400 " in await client.to_the_end()
    await client.close()


async def send_endless_head(client: Client) -> None:
    client.write(get()[:-2] + b"x: " + b"y" * 70_000)
    assert b" 431 " in await client.to_the_end()
    await client.close()


async def reset_while_pipelining(client: Client) -> None:
    for _ in range(100):
        client.ask("echo", text="hello")
    await client.reset()


async def reset_in_a_call(client: Client) -> None:
    client.ask("hold")
    await client.until(b"begun")
    await client.reset()


BEHAVIOURS: tuple[Callable[[Client], Any], ...] = (
    behave_well,
    stay_silent,
    stop_in_the_head,
    reset_in_the_head,
    reset_in_the_body,
    send_too_much,
    send_garbage,
    send_endless_head,
    reset_while_pipelining,
    reset_in_a_call,
)


async def come_and_go(subject: Subject, port: int, count: int) -> None:
    places = asyncio.Semaphore(CONCURRENT)
    subject.release.clear()

    async def connect_once(number: int) -> None:
        async with places:
            await BEHAVIOURS[number % len(BEHAVIOURS)](
                Client(*await asyncio.open_connection("127.0.0.1", port))
            )

    await asyncio.gather(*(connect_once(number) for number in range(count)))
    assert subject.waiting == count // len(BEHAVIOURS)
    subject.release.set()
    await until(lambda: subject.waiting == 0)


async def test_connections_that_come_and_go() -> None:
    subject = Subject()
    async with on_assay(subject.app, subject.server.limits) as port:
        await come_and_go(subject, port, 50)
        before = Held.now()
        await come_and_go(subject, port, CONNECTIONS)
        await returned_to(before, slack=75_000)


async def never_read(subject: Subject, port: int) -> None:
    """Request more than fits into any buffer. The server buffers little, and gives up."""
    before, poured = Held.now(), subject.poured
    streaming, pipelining = [
        Client(*await asyncio.open_connection("127.0.0.1", port, limit=1024)) for _ in range(2)
    ]
    streaming.read_nothing()
    pipelining.read_nothing()
    streaming.ask("pour")
    async with asyncio.timeout(2 * PATIENCE):
        with contextlib.suppress(OSError):
            # Small answers, sent at once. A client that does not read notices the reset when it writes.
            while True:
                await pipelining.ask_and_drain("echo", text="x" * 5000)
    await until(lambda: subject.poured == poured + 1)
    assert Held.now().memory - before.memory < 5_000_000
    await streaming.reset()
    await pipelining.close()


async def test_clients_that_never_read_are_cut_off() -> None:
    subject = Subject()
    async with on_assay(subject.app, subject.server.limits) as port:
        await never_read(subject, port)
        before = Held.now()
        await never_read(subject, port)
        await returned_to(before, slack=300_000)
