"""The relay on HTTP: bytes pass unchanged, both ways, whatever they are, and are on disk first."""

from __future__ import annotations

import asyncio
import gzip
import random
from asyncio import StreamReader as Reader
from asyncio import StreamWriter as Writer
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from assay.lab.harness.links.connections import Connections
from assay.lab.harness.trace.file import read_trace
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.tap.capture import Capture
from assay.lab.tap.host_header import HostHeader
from assay.lab.tap.http_relay import HttpRelay
from assay.lab.tap.options import TapOptions
from assay.lab.tap.view import GAP, settled
from assay.protocol.framing import websocket as ws

LIMIT = 10.0


def post(body: bytes, *headers: bytes) -> bytes:
    lines = (b"POST /mcp HTTP/1.1", b"Host: 127.0.0.1", b"Content-Length: %d" % len(body), *headers)
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def reply(
    body: bytes, *headers: bytes, status: bytes = b"200 OK", media: bytes = b"application/json"
) -> bytes:
    fields = (b"HTTP/1.1 " + status, b"Content-Type: " + media, b"Content-Length: %d" % len(body), *headers)
    return b"\r\n".join(fields) + b"\r\n\r\n" + body


INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}'
PING = b'{"jsonrpc":"2.0","id":2,"method":"ping"}'
PONG = b'{"jsonrpc":"2.0","id":2,"result":{}}'
EVENTS = b"id: 1\r\ndata: \r\n\r\n: comment\n\ndata: " + PONG + b"\n\n"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    + b"".join(b"%X;ext=1\r\n%b\r\n" % (len(part), part) for part in (EVENTS[:9], EVENTS[9:40], EVENTS[40:]))
    + b"0\r\nTrailer: x\r\n\r\n"
)


class Server:
    """Sends its answers, one after each arrival of data; keeps what it receives."""

    def __init__(self, *answers: bytes, then_close: bool = False) -> None:
        self.received = bytearray()
        self.answers = list(answers)
        self.then_close = then_close
        self.connections = Connections(self._serve)

    async def _serve(self, reader: Reader, writer: Writer) -> None:
        while data := await reader.read(65536):
            self.received += data
            if self.answers:
                writer.write(self.answers.pop(0))
                await writer.drain()
            if self.then_close and not self.answers:
                return


Drive = Callable[[Reader, Writer, HttpRelay], Awaitable[None]]


def tapped(path: Path, server: Server, drive: Drive, options: TapOptions | None = None) -> list[Trace]:
    """Run a client against a server through a tap; returns the traces."""

    async def run() -> Path:
        port = await server.connections.listen()
        values = options or TapOptions(output=path)
        relay = HttpRelay(Capture(values, "http://x/mcp"), f"http://127.0.0.1:{port}/mcp")
        await relay.start("127.0.0.1", 0)
        host, _, number = relay.listen.rpartition(":")
        async with asyncio.timeout(LIMIT):
            reader, writer = await asyncio.open_connection(host, int(number))
            await drive(reader, writer, relay)
            writer.close()
            await relay.stop()
        await server.connections.stop()
        return relay.capture.directory

    return [read_trace(file) for file in sorted(asyncio.run(run()).glob("*.ndjson"))]


def kinds(trace: Trace) -> list[tuple[Sender, Kind]]:
    return [(frame.sender, frame.kind) for frame in trace.frames if frame.kind is not Kind.MARK]


def of_kind(trace: Trace, kind: Kind) -> list[Frame]:
    return [frame for frame in trace.frames if frame.kind is kind]


def test_requests_and_responses_pass_unchanged_and_are_recorded(tmp_path: Path) -> None:
    answers = (reply(PONG, b"X-Odd:   value "), CHUNKED)
    server = Server(*answers)
    requests = (post(INITIALIZE, b"x-Lower: 1"), post(PING, b"Accept: */*"))

    async def drive(reader: Reader, writer: Writer, relay: HttpRelay) -> None:
        for request, answer in zip(requests, answers, strict=True):
            writer.write(request)
            assert await reader.readexactly(len(answer)) == answer

    (trace,) = tapped(tmp_path, server, drive)

    assert bytes(server.received) == b"".join(requests)
    assert [frame.raw for frame in of_kind(trace, Kind.REQUEST)] == list(requests)
    assert of_kind(trace, Kind.BODY)[0].raw == PONG
    assert b"".join(frame.raw for frame in of_kind(trace, Kind.EVENT)) == EVENTS
    assert [frame.info["clean"] for frame in of_kind(trace, Kind.END)] == [True, True]


def test_random_bytes_pass_unchanged_in_both_directions(tmp_path: Path) -> None:
    chance = random.Random(7)
    sent, answered = chance.randbytes(300_000), chance.randbytes(300_000)
    server = Server(answered)

    async def drive(reader: Reader, writer: Writer, relay: HttpRelay) -> None:
        writer.write(sent)
        assert await reader.readexactly(len(answered)) == answered
        writer.write_eof()
        await reader.read()
        assert relay.problems == 1

    tapped(tmp_path, server, drive)
    assert bytes(server.received) == sent


SMUGGLED = post(PING, b"Transfer-Encoding: chunked") + post(b"{}", b"X-Smuggled: yes")


def test_a_request_with_two_readings_passes_and_is_not_interpreted(tmp_path: Path) -> None:
    server = Server(reply(PONG))

    async def drive(reader: Reader, writer: Writer, relay: HttpRelay) -> None:
        writer.write(SMUGGLED)
        await reader.readexactly(len(reply(PONG)))
        assert "both content-length and transfer-encoding" in relay.problem

    traces = tapped(tmp_path, server, drive)
    assert bytes(server.received) == SMUGGLED
    assert not any(b"Smuggled" in frame.raw for trace in traces for frame in trace.frames)


def test_a_server_that_dies_inside_of_a_response_is_recorded(tmp_path: Path) -> None:
    server = Server(reply(PONG)[:-5], then_close=True)

    async def drive(reader: Reader, writer: Writer, relay: HttpRelay) -> None:
        writer.write(post(PING))
        assert await reader.read() == reply(PONG)[:-5]

    (trace,) = tapped(tmp_path, server, drive)
    assert of_kind(trace, Kind.BODY)[0].raw == PONG[:-5]
    assert of_kind(trace, Kind.END)[0].info["clean"] is False


def test_what_passed_is_on_disk_before_the_answer_arrives(tmp_path: Path) -> None:
    server = Server(reply(PONG))

    async def drive(reader: Reader, writer: Writer, relay: HttpRelay) -> None:
        writer.write(post(PING))
        await reader.readexactly(len(reply(PONG)))
        (file,) = relay.capture.directory.glob("*.ndjson")
        assert [frame.kind for frame in read_trace(file).frames] == [
            *(Kind.REQUEST, Kind.HEAD, Kind.BODY, Kind.END),
        ]

    tapped(tmp_path, server, drive)


def test_a_client_that_leaves_ends_its_open_stream(tmp_path: Path) -> None:
    server = Server(CHUNKED[:120])

    async def drive(reader: Reader, writer: Writer, relay: HttpRelay) -> None:
        writer.write(post(PING))
        await reader.readexactly(120)
        writer.transport.abort()

    (trace,) = tapped(tmp_path, server, drive)
    assert (Sender.DRIVER, Kind.END) in kinds(trace)


def test_a_server_that_is_not_there_is_answered_for_with_the_reason(tmp_path: Path) -> None:
    async def run() -> bytes:
        relay = HttpRelay(Capture(TapOptions(output=tmp_path), "x"), "http://127.0.0.1:1/mcp")
        await relay.start("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", int(relay.listen.rpartition(":")[2]))
        writer.write(post(PING))
        async with asyncio.timeout(LIMIT):
            answer = await reader.read()
        writer.close()
        await relay.stop()
        return answer

    answer = asyncio.run(run())
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert b"no connection to 127.0.0.1:1: Connection refused" in answer


def test_connections_beyond_the_limit_are_refused_with_the_option(tmp_path: Path) -> None:
    async def drive(reader: Reader, writer: Writer, relay: HttpRelay) -> None:
        writer.write(post(PING))
        await reader.readexactly(len(reply(PONG)))
        other, second = await asyncio.open_connection("127.0.0.1", int(relay.listen.rpartition(":")[2]))
        second.write(post(PING))
        answer = await other.read()
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"--connections" in answer
        second.close()

    tapped(tmp_path, Server(reply(PONG)), drive, TapOptions(output=tmp_path, connections=1))


UPGRADE = (
    b"GET /mcp HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Key: YXNzYXkgbGFiIGRyaXZlcg==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"


def test_websocket_messages_pass_unchanged_and_are_recorded(tmp_path: Path) -> None:
    frames = ws.frame(ws.TEXT, PING[:9], fin=False, mask=b"abcd") + ws.frame(0, PING[9:], mask=b"efgh")
    server = Server(SWITCHED + ws.text_frame(b'{"jsonrpc":"2.0","method":"x"}'), ws.text_frame(PONG))

    async def drive(reader: Reader, writer: Writer, relay: HttpRelay) -> None:
        writer.write(UPGRADE)
        await reader.readuntil(b'"x"}')
        writer.write(frames)
        assert await reader.readuntil(PONG) == ws.text_frame(PONG)

    (trace,) = tapped(tmp_path, server, drive)
    assert bytes(server.received) == UPGRADE + frames
    assert trace.transport == "ws"
    assert [frame.raw for frame in of_kind(trace, Kind.TEXT)][1:] == [PING, PONG]


def test_a_coded_body_is_recorded_as_text_and_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    coded = gzip.compress(PONG)
    bomb = gzip.compress(b" " * 50_000_000)
    answers = (reply(coded, b"Content-Encoding: gzip"), reply(bomb, b"Content-Encoding: gzip"))
    server = Server(*answers)

    async def drive(reader: Reader, writer: Writer, relay: HttpRelay) -> None:
        for answer in answers:
            writer.write(post(PING))
            assert await reader.readexactly(len(answer)) == answer

    (trace,) = tapped(tmp_path, server, drive)
    assert [frame.raw for frame in of_kind(trace, Kind.BODY)] == [PONG]
    (gap,) = trace.marks(GAP)
    assert "more than 8388608 bytes" in gap.info["reason"]
    # The exchange with the gap is left out of what is judged.
    assert [call.channel for call in settled(trace).calls] == ["1/post-1"]


def test_sessions_and_handshakes_separate_conversations(tmp_path: Path) -> None:
    first, second = (reply(PONG, b"Mcp-Session-Id: %b" % name) for name in (b"one", b"two"))
    server = Server(first, second, reply(PONG), reply(PONG))

    async def drive(reader: Reader, writer: Writer, relay: HttpRelay) -> None:
        for request, answer in (
            (post(INITIALIZE), first),
            (post(INITIALIZE), second),
            (post(PING, b"mcp-session-id: one"), reply(PONG)),
            (post(PING, b"MCP-SESSION-ID: two"), reply(PONG)),
        ):
            writer.write(request)
            await reader.readexactly(len(answer))

    traces = tapped(tmp_path, server, drive)
    assert [[call.sent.get("mcp-session-id") for call in trace.calls] for trace in traces] == [
        [None, "one"],
        [None, "two"],
    ]


@pytest.mark.parametrize("size", [1, 7, 65536])
def test_only_the_host_of_the_tap_is_replaced_for_a_server_elsewhere(size: int) -> None:
    ours = post(b"Host: 127.0.0.1", b"Accept: x") + post(PING).replace(
        b"Host: 127.0.0.1", b"host:localhost:4000"
    )
    foreign = post(PING).replace(b"127.0.0.1", b"evil.example")
    header = HostHeader("server.example", "127.0.0.1:4000")
    data = ours + foreign
    passed = b"".join(header.changed(data[place : place + size]) for place in range(0, len(data), size))

    expected = post(b"Host: 127.0.0.1", b"Accept: x").replace(
        b"Host: 127.0.0.1\r\nC", b"Host: server.example\r\nC"
    )
    expected += post(PING).replace(b"Host: 127.0.0.1", b"host:server.example") + foreign
    assert passed == expected


def test_the_rest_of_an_unreadable_connection_passes_with_its_host() -> None:
    header = HostHeader("server.example", "127.0.0.1:4000")

    assert header.changed(SMUGGLED).endswith(post(b"{}", b"X-Smuggled: yes"))
    assert header.changed(b"more") == b"more"
