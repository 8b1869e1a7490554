"""WebSocket clients leave nothing behind on our own server, however they behave and disconnect."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assay import Context, Limits, Server
from assay.protocol.framing.websocket import CONTINUATION, PING, TEXT, Close, Pong, close_frame, frame
from assay.revisions.registry import HANDSHAKE
from tests.driving.hosts import on_assay
from tests.driving.messages import call, initialize, notification, request
from tests.driving.raw_socket import MASK, RawSocket
from tests.load.gauge import Held, returned_to, tracing, until, until_still

# Slow on a busy machine. Each wait inside has its own, shorter timeout.
pytestmark = [pytest.mark.long, pytest.mark.timeout(120)]
CONNECTIONS = 250
CONCURRENT = 25
MESSAGE_BYTES = 200_000
CHUNK = "x" * 50_000
SMALL = 16_384
"""Receive buffer of a client that does not read; by default, the kernel would buffer megabytes."""
PINGS = frame(PING, b"x" * 100, mask=MASK) * 1000


@pytest.fixture(autouse=True)
def traced() -> Iterator[None]:
    with tracing():
        yield


class Subject:
    def __init__(self, **limits: Any) -> None:
        self.limits = Limits(message_bytes=MESSAGE_BYTES, drain=0.5, **limits)
        self.server = Server("load", limits=self.limits)
        self.app = self.server.asgi()
        self.sent = 0
        self.finished = 0
        for tool in (self.echo, self.hold, self.pour):
            self.server.tool(tool)

    async def echo(self, text: str) -> str:
        return text

    async def hold(self, ctx: Context) -> str:
        await ctx.log("info", "begun")
        try:
            await asyncio.Event().wait()
        finally:
            self.finished += 1
        return "never"

    async def pour(self, ctx: Context, chunks: int) -> str:
        """Send much more than any buffer holds."""
        try:
            for _ in range(chunks):
                await ctx.log("info", CHUNK)
                self.sent += 1
        finally:
            self.finished += 1
        return "done"

    @property
    def held(self) -> tuple[int, int]:
        """The number of connections and of sessions."""
        return len(self.app._websockets), len(self.server.notifier)


async def connect(port: int, window: int | None = None) -> RawSocket:
    client = await RawSocket.open(port, window)
    assert "result" in await client.ask(initialize(HANDSHAKE[-1]))
    client.send(notification("notifications/initialized"))
    return client


# Ways to disconnect


async def close(client: RawSocket) -> None:
    client.write(close_frame(1000, "", MASK))
    while not isinstance(await client.receive(), Close):
        pass
    await client.gone()


async def reset(client: RawSocket) -> None:
    await client.reset()


async def reset_in_a_call(client: RawSocket) -> None:
    client.send(call("hold"))
    assert "begun" in str(await client.receive())
    await client.reset()


async def reset_in_a_frame(client: RawSocket) -> None:
    client.write(frame(TEXT, b"x" * 100_000, mask=MASK)[:50_000])
    client.send(request("ping"))
    await client.reset()


async def reset_in_a_message(client: RawSocket) -> None:
    client.write(frame(TEXT, b"x" * 100_000, fin=False, mask=MASK))
    await client.writer.drain()
    await client.gone()


DISCONNECTS: tuple[Callable[[RawSocket], Any], ...] = (
    close,
    reset,
    reset_in_a_call,
    reset_in_a_frame,
    reset_in_a_message,
)


async def come_and_go(subject: Subject, port: int, count: int) -> None:
    places = asyncio.Semaphore(CONCURRENT)

    async def connect_once(number: int) -> None:
        async with places:
            await DISCONNECTS[number % len(DISCONNECTS)](await connect(port))

    await asyncio.gather(*(connect_once(number) for number in range(count)))
    await until(lambda: subject.held == (0, 0))


async def test_connections_that_come_and_go() -> None:
    subject = Subject()
    async with on_assay(subject.app, subject.limits) as port:
        await come_and_go(subject, port, 50)
        before = Held.now()
        await come_and_go(subject, port, CONNECTIONS)
        assert subject.finished == (50 + CONNECTIONS) // len(DISCONNECTS)
        await returned_to(before, slack=75_000)


async def send_in_fragments(client: RawSocket) -> None:
    """Send one message in many fragments, with pings between them."""
    message = json.dumps(call("echo", text="x" * 10_000)).encode()
    parts = [message[start : start + 500] for start in range(0, len(message), 500)]
    for place, piece in enumerate(parts):
        last = place == len(parts) - 1
        client.write(frame(CONTINUATION if place else TEXT, piece, fin=last, mask=MASK))
        client.write(frame(PING, b"%d" % place, mask=MASK))
    answered, pongs = 0, 0
    while pongs < len(parts) or not answered:
        received = await client.receive()
        answered += isinstance(received, str)
        pongs += isinstance(received, Pong)
    assert answered == 1


async def send_too_much(port: int, data: bytes) -> None:
    client = await connect(port)
    client.write(data)
    assert (await client.closed()).code == 1009
    await client.gone()


async def abuse(port: int, count: int) -> None:
    client = await connect(port)
    too_big = frame(TEXT, b"x" * (MESSAGE_BYTES + 1), mask=MASK)
    half = frame(TEXT, b"x" * MESSAGE_BYTES, fin=False, mask=MASK)
    for _ in range(count):
        await send_in_fragments(client)
        await send_too_much(port, too_big)
        await send_too_much(port, half + frame(CONTINUATION, b"x", mask=MASK))
        # The head alone is enough: the payload is never sent.
        await send_too_much(port, b"\x81\xff" + (1 << 40).to_bytes(8, "big") + MASK)
    await close(client)


async def test_fragments_pings_and_oversized_messages() -> None:
    subject = Subject()
    async with on_assay(subject.app, subject.limits) as port:
        await abuse(port, 5)
        await until(lambda: subject.held == (0, 0))
        before = Held.now()
        await abuse(port, 20)
        await until(lambda: subject.held == (0, 0))
        await returned_to(before, slack=100_000)


async def never_read(subject: Subject, port: int) -> None:
    """Request more than fits into any buffer, and read nothing. The server buffers little, and gives up."""
    chunks, clients = 400, []
    subject.sent = subject.finished = 0
    before = Held.now()
    for number in range(5):
        client = await connect(port, SMALL)
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]
        for each in range(4):
            client.send(call("pour", f"{number}-{each}", chunks=chunks))
        client.write(PINGS)
        clients.append(client)
    await until(lambda: subject.sent > 0)
    sent = await until_still(lambda: subject.sent)
    assert 0 < sent < 20 * chunks
    assert Held.now().memory - before.memory < 8_000_000
    await until(lambda: subject.finished == 20 and subject.held == (0, 0))
    for client in clients:
        client.writer.transport.abort()
        await client.gone()


async def test_clients_that_never_read_are_cut_off() -> None:
    subject = Subject(write_timeout=0.5)
    async with on_assay(subject.app, subject.limits) as port:
        await never_read(subject, port)
        before = Held.now()
        await never_read(subject, port)
        await returned_to(before, slack=500_000)
