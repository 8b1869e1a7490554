"""Clients leave nothing behind. Each test does the same twice, and compares the resources held in between."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from assay import Context, Limits, Server
from assay.revisions.registry import HANDSHAKE
from assay.store.memory import MemoryEvents, MemorySessions
from assay.transport.stdio import StdioConnection, open_writer, start_reading
from tests.driving.asgi import BOTH, AsgiPeer
from tests.driving.hosts import Host, on_assay
from tests.driving.messages import call, initialize, notification
from tests.load.gauge import Held, on_uvicorn, returned_to, tracing, turn, until, until_still

# Slow on a busy machine. Each wait inside has its own, shorter timeout.
pytestmark = [pytest.mark.long, pytest.mark.timeout(120)]
NEWEST = HANDSHAKE[-1]
SESSIONS = 500
STREAMS = 250
CONCURRENT = 25
CHUNK = "x" * 50_000
EMPTY_TABLES = 200_000
"""Memory of empty dictionaries and sets that once had 500 entries; the entries take far more."""
each_host = pytest.mark.parametrize("host", [on_assay, on_uvicorn])


@pytest.fixture(autouse=True)
def traced() -> Iterator[None]:
    with tracing():
        yield


class Subject:
    """A server with countable sessions and events, and a manual clock."""

    def __init__(self, limits: Limits | None = None, **sessions: Any) -> None:
        self.time = 0.0
        self.server = Server("load", limits=limits or Limits(drain=0.5))
        self.sessions = MemorySessions(clock=lambda: self.time, **sessions)
        self.events = MemoryEvents(events_per_stream=8, bytes_per_session=400_000)
        self.app = self.server.asgi(session_store=self.sessions, event_store=self.events)
        self.sent = 0
        self.finished = 0
        for tool in (self.chatty, self.pour, self.ask):
            self.server.tool(tool)
        self.server.resource("load://watched")(self.watched)

    async def chatty(self, ctx: Context) -> str:
        await ctx.log("info", "x" * 500)
        return "done"

    async def pour(self, ctx: Context, chunks: int) -> str:
        """Send much more than any buffer holds."""
        try:
            for _ in range(chunks):
                await ctx.log("info", CHUNK)
                self.sent += 1
        finally:
            self.finished += 1
        return "done"

    async def ask(self, ctx: Context) -> str:
        return (await ctx.sample("well?", max_tokens=1)).text

    async def watched(self) -> str:
        return "watched"

    @property
    def held(self) -> tuple[int, int, int, int]:
        """Sessions in the store, in the transport and in the server, and sessions with stored events."""
        live, audience = len(self.app._sessions), len(self.server.notifier)
        return len(self.sessions), live, audience, len(self.events)


async def abandon(subject: Subject, count: int) -> None:
    """Open sessions, use each once, and abandon them."""
    for _ in range(count):
        peer = await AsgiPeer(subject.app).shake_hands(NEWEST)
        answer = await peer.call("chatty")
        assert answer.status == 200
    subject.server.notifier.list_changed("tools")
    await turn()
    await turn()


async def test_abandoned_sessions_expire() -> None:
    subject = Subject(idle_timeout=60.0)
    await abandon(subject, 20)
    await expire(subject)
    before = Held.now()
    await abandon(subject, SESSIONS)
    assert subject.held == (SESSIONS,) * 4
    assert Held.now().memory - before.memory > 10 * EMPTY_TABLES
    await expire(subject)
    await returned_to(before, slack=EMPTY_TABLES)
    await subject.app.close()


async def expire(subject: Subject) -> None:
    subject.time += 61
    await subject.app._sessions.sweep()
    assert subject.held == (0, 0, 0, 0)


async def test_abandoned_sessions_make_room_for_new_ones() -> None:
    subject = Subject(limits=Limits(drain=0.5, sessions=50))
    await abandon(subject, 60)
    before = Held.now()
    await abandon(subject, SESSIONS)
    assert subject.held == (50, 50, 50, 50)
    await returned_to(before, slack=75_000)
    await subject.app.close()
    assert subject.held[1:] == (0, 0, 0)


async def test_sessions_that_end_in_the_middle_keep_no_events() -> None:
    """Regression: events sent while a session ended were never deleted."""
    subject = Subject()
    for _ in range(3):
        async with AsgiPeer(subject.app) as peer:
            await peer.shake_hands(NEWEST, sampling={})
            asking = peer.begin("POST", call("ask"))
            assert (await asking.message())["method"] == "sampling/createMessage"
            subject.server.notifier.list_changed("tools")  # sent when the session is gone
            assert (await peer.send("DELETE")).status == 204
            assert [message["error"]["code"] for message in await asking.messages()] == [-32603]
    await turn()
    await turn()
    assert subject.held == (0, 0, 0, 0)


def http(method: str, session: str | None, body: Any = None) -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    lines = [
        f"{method} /mcp HTTP/1.1",
        "host: localhost",
        f"accept: {BOTH}",
        "content-type: application/json",
    ]
    lines += [f"content-length: {len(content)}", *([f"mcp-session-id: {session}"] if session else [])]
    return "\r\n".join([*lines, "", ""]).encode() + content


async def open_session(port: int) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(http("POST", None, initialize(NEWEST)))
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    session = head.partition("mcp-session-id: ")[2].partition("\r\n")[0]
    writer.close()
    await writer.wait_closed()
    await exchange(port, http("POST", session, notification("notifications/initialized")), b"202")
    return session


async def exchange(port: int, data: bytes, status: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    assert (await reader.readuntil(b"\r\n\r\n")).split()[1] == status
    writer.close()
    await writer.wait_closed()


async def cut(port: int, data: bytes, places: asyncio.Semaphore) -> None:
    """Request a stream, read the beginning of its first event, and reset the connection."""
    async with places:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        await reader.readuntil(b"data: ")
        # Closing with this option resets the connection.
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()
        await asyncio.wait([asyncio.ensure_future(writer.wait_closed())])


async def cut_streams(subject: Subject, port: int, count: int) -> None:
    places = asyncio.Semaphore(CONCURRENT)
    sessions = [await open_session(port) for _ in range(10)]
    requests = [
        http("POST", session, call("pour", number, chunks=2)) if number % 2 else http("GET", session)
        for number, session in zip(range(count), sessions * count, strict=False)
    ]
    finished = subject.finished
    await asyncio.gather(*(cut(port, data, places) for data in requests))
    # A broken connection does not cancel a request: each one runs to its end.
    await until(lambda: subject.finished == finished + count // 2)
    for session in sessions:
        await exchange(port, http("DELETE", session), b"204")
    assert subject.held == (0, 0, 0, 0)


@each_host
async def test_streams_cut_in_the_middle_of_an_event(host: Host) -> None:
    subject = Subject()
    async with host(subject.app) as port:
        await cut_streams(subject, port, 50)
        before = Held.now()
        await cut_streams(subject, port, STREAMS)
        await returned_to(before, slack=125_000)


async def never_read(subject: Subject, port: int) -> None:
    """Request more than fits into any buffer, read nothing, and disconnect once the server has stopped
    sending."""
    session = await open_session(port)
    chunks, clients = 400, []
    subject.sent = subject.finished = 0
    before = Held.now()
    for number in range(5):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(http("POST", session, call("pour", number, chunks=chunks)))
        clients.append((reader, writer))
    sent = await until_still(lambda: subject.sent)
    assert (0 < sent < 5 * chunks, subject.finished) == (True, 0)
    assert Held.now().memory - before.memory < 5_000_000
    for _, writer in clients:
        writer.transport.abort()
    await until(lambda: subject.finished == 5)
    await exchange(port, http("DELETE", session), b"204")
    assert subject.held == (0, 0, 0, 0)


@each_host
async def test_http_client_that_never_reads(host: Host) -> None:
    subject = Subject()
    async with host(subject.app) as port:
        await never_read(subject, port)
        before = Held.now()
        await never_read(subject, port)
        await returned_to(before, slack=300_000)


class Pipes:
    """A stdio connection whose client writes but does not read."""

    @classmethod
    async def open(cls, server: Server) -> Pipes:
        self = cls()
        self.source, self.client_in = os.pipe()
        self.client_out, self.sink = os.pipe()
        os.set_blocking(self.client_in, False)
        self.writer = await open_writer(self.sink)
        self.connection = StdioConnection(server, self.writer)
        self.ended = asyncio.Event()
        self.reading = await start_reading(self.source, self.connection, self.ended)
        return self

    async def write(self, message: Any) -> bool:
        """False when the pipe is full: the server has stopped reading."""
        try:
            return bool(os.write(self.client_in, json.dumps(message).encode() + b"\n"))
        except BlockingIOError:
            return False

    async def leave(self) -> None:
        os.close(self.client_out)
        os.close(self.client_in)
        await self.ended.wait()
        self.reading.close()
        await self.connection.drain()
        await self.writer.close()
        os.close(self.source)
        os.close(self.sink)


async def flood_and_leave(subject: Subject, announcements: int) -> None:
    pipes = await Pipes.open(subject.server)
    try:
        await flood(subject, pipes, announcements)
    finally:
        await pipes.leave()


async def flood(subject: Subject, pipes: Pipes, announcements: int) -> None:
    """Send requests until the server stops reading, then notify a lot, and never read a byte."""
    await pipes.write(initialize(NEWEST))
    await pipes.write(notification("notifications/initialized"))
    refused = number = 0
    while refused < 50 and number < 20_000:
        taken = await pipes.write(call("chatty", number))
        refused, number = (0, number + 1) if taken else (refused + 1, number)
        await turn()
    assert number < 20_000, "input was read without end"
    before = Held.now()
    for _ in range(announcements // 2):
        subject.server.notifier.list_changed("tools")
        subject.server.notifier.list_changed("resources")
        await turn()
    assert Held.now().memory - before.memory < 1_100_000


async def test_stdio_client_that_never_reads() -> None:
    subject = Subject()
    await flood_and_leave(subject, 1000)
    before = Held.now()
    await flood_and_leave(subject, 30_000)
    await returned_to(before, slack=300_000)


async def test_oversized_heads_are_not_cached() -> None:
    """Verdicts are cached by header values, whose number and size the client chooses."""
    subject = Subject()
    async with AsgiPeer(subject.app) as peer:
        assert (await peer.post(b"{}", headers={"accept": "a" * 70_000})).status == 431
    before = Held.now()
    for number in range(200):
        async with AsgiPeer(subject.app) as peer:
            answer = await peer.post(b"{}", headers={"accept": f"{BOTH}, {'a' * 100_000}{number}"})
            assert answer.status == 431
    await returned_to(before, slack=300_000)
