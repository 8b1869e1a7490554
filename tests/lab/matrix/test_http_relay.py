"""The relay between client and server on HTTP: what passes, and what is recorded of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from assay.lab.harness.links.connections import Connections
from assay.lab.harness.trace.frame import Header, Kind, Sender
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.matrix.http_relay import HttpRelay

POST = b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nAuthorization: Bearer secret\r\n\r\n{}"
JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nX-Odd:  y\r\n\r\n[]"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
UNTIL_CLOSED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[1]"
LIMIT = 5.0


class Server:
    """Answers every request with the same bytes, and keeps what it received."""

    def __init__(self, answer: bytes, *, closes: bool = False, silent: bool = False) -> None:
        self._answer = answer
        self._closes = closes
        self._silent = silent
        self.received = bytearray()
        self.disconnected = asyncio.Event()
        self.connections = Connections(self._serve)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            self.received += data
            if not self._silent:
                writer.write(self._answer)
                await writer.drain()
            if self._closes:
                return
        self.disconnected.set()


Drive = Callable[[asyncio.StreamReader, asyncio.StreamWriter, Server, Recorder], Awaitable[None]]


def relayed(server_of: Callable[[], Server], drive: Drive) -> Recorder:
    async def run() -> Recorder:
        server = server_of()
        port = await server.connections.listen()
        recorder = Recorder(Header("2025-11-25", "http", "s", "matrix"))
        relay = HttpRelay(recorder, f"http://127.0.0.1:{port}/mcp")
        await relay.start()
        assert relay.url.endswith("/mcp")
        try:
            async with asyncio.timeout(LIMIT):
                place = relay.url.split("/")[2].rpartition(":")
                reader, writer = await asyncio.open_connection(place[0], int(place[2]))
                await drive(reader, writer, server, recorder)
                writer.close()
        finally:
            await relay.stop()
            await server.connections.stop()
        return recorder

    return asyncio.run(run())


def frames(recorder: Recorder) -> list[tuple[Sender, str, Kind, bytes]]:
    trace = recorder.trace(closed=True)
    return [(frame.sender, frame.channel, frame.kind, frame.raw) for frame in trace.frames]


def test_heads_and_bodies_pass_unchanged_on_one_connection() -> None:
    async def drive(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: Server, recorder: Recorder
    ) -> None:
        for _ in range(2):
            writer.write(POST)
            assert await reader.readexactly(len(JSON)) == JSON
        assert bytes(server.received) == POST + POST

    recorded = frames(relayed(lambda: Server(JSON), drive))
    assert [frame[:3] for frame in recorded[:4]] == [
        (Sender.DRIVER, "1/post-1", Kind.REQUEST),
        (Sender.SUBJECT, "1/post-1", Kind.HEAD),
        (Sender.SUBJECT, "1/post-1", Kind.BODY),
        (Sender.SUBJECT, "1/post-1", Kind.END),
    ]
    assert recorded[4][1] == "1/post-2"
    assert b"secret" not in recorded[0][3]


def test_events_are_recorded_one_by_one_and_passed_on_at_once() -> None:
    event = b"data: {}\n\n"

    async def drive(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: Server, recorder: Recorder
    ) -> None:
        writer.write(POST)
        got = await reader.readuntil(event + b"\r\n")
        assert got.startswith(STREAM)
        writer.close()
        await server.disconnected.wait()

    chunk = b"%x\r\n%b\r\n" % (len(event), event)
    recorder = relayed(lambda: Server(STREAM + chunk), drive)
    recorded = frames(recorder)
    assert [frame[2] for frame in recorded] == [Kind.REQUEST, Kind.HEAD, Kind.EVENT, Kind.END]
    assert recorded[-1][0] is Sender.DRIVER  # the client went first
    assert recorder.trace(closed=True).frames[-1].info == {"clean": False}


def test_response_that_ends_with_its_connection_ends_ours() -> None:
    async def drive(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: Server, recorder: Recorder
    ) -> None:
        writer.write(POST)
        assert await reader.read() == UNTIL_CLOSED

    assert frames(relayed(lambda: Server(UNTIL_CLOSED, closes=True), drive))[-1][2] is Kind.END


def test_request_in_chunks_reaches_the_server() -> None:
    head = b"POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def drive(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: Server, recorder: Recorder
    ) -> None:
        writer.write(head + b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n")
        assert await reader.readexactly(len(JSON)) == JSON
        assert bytes(server.received) == head + b"2\r\n{}\r\n0\r\n\r\n"

    assert frames(relayed(lambda: Server(JSON), drive))[0][3] == head + b"{}"


@pytest.mark.parametrize("answer", [b"not http\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n12"])
def test_broken_response_is_recorded_as_cut_off(answer: bytes) -> None:
    async def drive(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: Server, recorder: Recorder
    ) -> None:
        writer.write(POST)
        await reader.read()

    recorder = relayed(lambda: Server(answer, closes=True), drive)
    last = recorder.trace(closed=True).frames[-1]
    assert last.kind is Kind.END
    assert last.info["clean"] is False


def test_server_that_is_gone_closes_the_connection_of_the_client() -> None:
    async def drive(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: Server, recorder: Recorder
    ) -> None:
        await server.connections.stop()
        writer.write(POST)
        assert await reader.read() == b""

    recorder = relayed(lambda: Server(JSON), drive)
    assert "no connection" in recorder.trace(closed=True).frames[-1].info["problem"]


def test_other_addresses_of_the_server_are_marked() -> None:
    async def drive(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: Server, recorder: Recorder
    ) -> None:
        writer.write(POST.replace(b"/mcp", b"/register"))
        await reader.readexactly(len(JSON))

    trace = relayed(lambda: Server(JSON), drive).trace(closed=True)
    assert trace.frames[0].info == {"at": "1"}
    assert trace.messages == ()
