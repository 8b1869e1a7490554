"""Servers that attack their client: one clear error each, in bounded memory, and nothing leaks to others."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay import (
    Client,
    ClientError,
    ClientLimits,
    HttpFailure,
    InvalidAnswer,
    Timeout,
)
from assay.model.definition import ToolDefinition
from assay.protocol.framing.websocket import Ping
from assay.revisions.registry import HANDSHAKE
from assay.transport.client.http import HttpLink
from assay.transport.client.url import read_address
from assay.transport.client.websocket import WebSocketLink
from tests.client.scripted import (
    INITIALIZED,
    HttpRequest,
    Responder,
    Writer,
    answering,
    http_response,
    process,
    raw_http,
    result,
)
from tests.driving.answer import PATIENCE

MIB = 1024 * 1024
ROOM = 8 * MIB
"""For what the loop, the client and the test itself allocate."""
LIMITS = ClientLimits(message_bytes=2 * MIB, close_timeout=0.3)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
BEFORE = HANDSHAKE[-1].date


@contextlib.contextmanager
def bounded(size: int) -> Iterator[None]:
    """Checks how much memory Python holds at most."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak < size, f"{peak / MIB:.1f} MiB"


def endless(start: bytes, repeated: bytes) -> Responder:
    """Starts an answer and never ends it, as fast as the client reads."""

    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(start)
        while True:
            writer.write(repeated)
            await writer.drain()

    return answering(respond)


async def failure_of(client: Client, **options: Any) -> ClientError:
    with pytest.raises(ClientError) as failure:
        await client.call_tool("anything", **options)
    return failure.value


# Processes.


async def test_a_line_of_a_gibibyte_is_refused_after_the_limit(tmp_path: Path) -> None:
    written = tmp_path / "written"
    target = process(
        "for message in messages():\n"
        "    for number in range(1024):\n"
        "        sys.stdout.write('x' * 1024 * 1024)\n"
        "        sys.stdout.flush()\n"
        f"    open({str(written)!r}, 'w').close()"
    )
    with bounded(3 * LIMITS.message_bytes + ROOM):
        async with Client(target, limits=LIMITS) as client:
            error = await failure_of(client)
            assert isinstance(error, InvalidAnswer)
            assert f"a line of more than {2 * MIB} bytes" in str(error)
    assert not written.exists()  # nobody reads the rest


async def test_endless_text_on_standard_error_is_cut() -> None:
    target = process(
        "for message in messages():\n"
        "    for number in range(16): sys.stderr.write('x' * 1024 * 1024)\n"
        "    sys.stderr.write('\\n' * 100_000 + 'the end\\n')\n"
        "    answer(message, {'content': []})"
    )
    with bounded(ROOM):
        async with Client(target, limits=LIMITS) as client:
            await client.call("anything")


async def test_pings_without_end_to_a_client_whose_replies_are_not_read_take_no_memory() -> None:
    target = process(
        "for message in messages():\n"
        "    for number in range(5000): send({'jsonrpc': '2.0', 'id': number, 'method': 'ping'})\n"
        "    answer(message, {'content': []})\n"
        "    signal.pause()"
    )
    with bounded(2 * MIB):
        async with Client(target, limits=LIMITS, revision=BEFORE) as client:
            await client.call_tool("anything", timeout=4 * PATIENCE)


# HTTP.


@pytest.mark.parametrize(
    ("start", "repeated", "text"),
    [
        (HEAD + b"\r\n", b"[" * 65536, "exceeds limits.message_bytes: 2097152 bytes"),
        (CHUNKED, b"1000\r\n" + b" " * 4096 + b"\r\n", "exceeds limits.message_bytes"),
        (EVENTS + b"data: ", b"x" * 65536, "exceeds limits.message_bytes"),
        (EVENTS, (b"data: " + b"x" * 1000 + b"\n") * 64, "exceeds limits.message_bytes"),
        (EVENTS, b"id: " + b"x" * 65536, "exceeds limits.message_bytes"),
        (HEAD, b"X-Header: " + b"x" * 1000 + b"\r\n", "exceeds limits.head_bytes: 65536 bytes"),
        (HEAD + b"X: ", b"x" * 65536, "exceeds limits.head_bytes"),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n", b"HTTP/1.1 103 x\r\n\r\n" * 100, "exceeds limits.head_bytes"),
        (CHUNKED, b"0" * 65536, "HTTP response"),
        (CHUNKED + b"1;", b"x" * 65536, "exceeds limits.head_bytes"),
        (CHUNKED + b"0\r\n", b"X: y\r\n" * 1000, "exceeds limits.head_bytes"),
        (HEAD + b"Content-Length: 99999999999\r\n\r\n", b"x" * 65536, "exceeds limits.message_bytes"),
    ],
)
async def test_an_answer_without_end_is_one_error_in_bounded_memory(
    start: bytes, repeated: bytes, text: str
) -> None:
    with bounded(3 * LIMITS.message_bytes + ROOM):
        async with raw_http(endless(start, repeated)) as server, Client(server.url, limits=LIMITS) as client:
            error = await failure_of(client, timeout=2 * PATIENCE)
            assert isinstance(error, InvalidAnswer), error
            assert text in str(error)
            await server.ended.wait()  # the connection is closed, not read on


async def test_a_refusal_without_end_is_cut() -> None:
    start = b"HTTP/1.1 500 Broken\r\nContent-Type: text/plain\r\n\r\n"
    with bounded(ROOM):
        async with raw_http(endless(start, b"x" * 65536)) as server, Client(server.url) as client:
            error = await failure_of(client)
            assert isinstance(error, HttpFailure) and error.status == 500
            assert len(error.body) <= 500
            await server.ended.wait()


async def test_a_compressed_bomb_is_refused_at_its_head() -> None:
    bomb = gzip.compress(b" " * 16 * MIB)

    async def respond(request: HttpRequest, writer: Writer) -> None:
        assert "accept-encoding" not in request.headers
        writer.write(http_response("200 OK", bomb, extra="Content-Encoding: gzip\r\n"))

    with bounded(ROOM):
        async with raw_http(answering(respond)) as server, Client(server.url) as client:
            error = await failure_of(client)
            assert isinstance(error, InvalidAnswer)
            assert "the server compressed its answer (gzip), which was not asked for" in str(error)


@pytest.mark.parametrize("start", [b"", HEAD, HEAD + b"\r\n", EVENTS, CHUNKED])
async def test_an_answer_that_drips_is_ended_by_the_timeout(start: bytes) -> None:
    letters = {b"": b"HTTP/1.1", HEAD: b"X-Header", EVENTS: b": hello\n", CHUNKED: b"1\r\n \r\n1\r\n \r\n"}

    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(start)
        for letter in letters.get(start, b"        "):
            writer.write(bytes([letter]))
            await writer.drain()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.02):
                    await server.ended.wait()

    async with raw_http(answering(respond)) as server, Client(server.url) as client:
        error = await failure_of(client, timeout=0.1)
        assert isinstance(error, Timeout)
        await server.ended.wait()


async def test_events_without_end_and_without_an_answer_are_ended_by_the_timeout() -> None:
    log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
    flood = f"data: {json.dumps(log)}\n\n".encode() * 100

    async def slow(message: Any) -> None:
        await asyncio.get_running_loop().create_future()

    with bounded(ROOM):
        async with (
            raw_http(endless(EVENTS, flood)) as server,
            Client(server.url, limits=ClientLimits(notices=10, close_timeout=0.3), on_log=slow) as client,
        ):
            error = await failure_of(client, timeout=0.2)
            assert isinstance(error, Timeout)


# Secrets.


@contextlib.asynccontextmanager
async def second_server() -> AsyncIterator[tuple[str, Any]]:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(http_response("200 OK", b"{}"))

    async with raw_http(respond) as server:
        yield server.url, server


def redirecting(location: str, status: str) -> Responder:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(http_response(status, extra=f"Location: {location}\r\n"))

    return respond


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"])
@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_redirect_carries_no_token_to_another_origin(status: str, scheme: str) -> None:
    async with second_server() as (elsewhere, thief), raw_http(redirecting(elsewhere, status)) as server:
        url = server.url.replace("http", scheme)
        with pytest.raises(HttpFailure) as failure:
            async with Client(url, headers={"Authorization": "Bearer secret"}):
                pass
        assert failure.value.status == int(status[:3])
        assert "secret" not in str(failure.value)
        assert thief.connections == []


async def test_a_redirect_of_a_stream_or_of_the_end_of_a_session_carries_no_token() -> None:
    """GET resumes a stream, and DELETE ends the session."""
    async with second_server() as (elsewhere, thief):

        async def respond(request: HttpRequest, writer: Writer) -> None:
            if request.method != "POST":
                writer.write(http_response("307 Temporary", extra=f"Location: {elsewhere}\r\n"))
            elif request.message["method"] == "initialize":
                body = result(request, INITIALIZED)
                writer.write(http_response("200 OK", body, extra="Mcp-Session-Id: s\r\n"))
            elif "id" not in request.message:
                writer.write(http_response("202 Accepted"))
            else:
                writer.write(EVENTS + b"id: 1\nretry: 0\ndata: \n\n")
                writer.close()

        async with raw_http(respond) as server:
            headers = {"Authorization": "Bearer secret"}
            async with Client(server.url, revision=BEFORE, headers=headers, limits=LIMITS) as client:
                error = await failure_of(client)
                assert isinstance(error, HttpFailure) and error.status == 307
            assert [request.method for request in server.requests][-2:] == ["GET", "DELETE"]
        assert thief.connections == []


# WebSocket.


async def test_pings_of_a_server_that_does_not_read_are_not_answered() -> None:
    """Their answers would wait in memory."""
    link, transport = WebSocketLink(read_address("ws://127.0.0.1/"), LIMITS), RecordingTransport()
    link.connection_made(transport)
    link._take(Ping(b"x"))
    link.pause_writing()
    link._take(Ping(b"x"))
    assert len(transport.written) == 1
    link.resume_writing()
    link._take(Ping(b"x"))
    assert len(transport.written) == 2


class RecordingTransport(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.written: list[Any] = []

    def write(self, data: Any) -> None:
        self.written.append(data)

    def is_closing(self) -> bool:
        return False


@pytest.mark.parametrize("further", [http_response("200 OK", b"{}"), b"HTTP/1.1 200 OK\r\nContent-Le"])
async def test_a_response_that_was_not_requested_is_not_taken_for_the_next_one(further: bytes) -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        name = request.message["params"]["name"]
        text = {"content": [{"type": "text", "text": name}]}
        writer.write(http_response("200 OK", result(request, text)) + (further if name == "first" else b""))

    async with raw_http(answering(respond)) as server, Client(server.url, timeout=PATIENCE) as client:
        assert (await client.call("first")).text == "first"
        texts = await asyncio.gather(*(client.call(name) for name in ("a", "b", "c")))
        assert [answer.text for answer in texts] == ["a", "b", "c"]


async def test_a_server_that_always_ends_the_stream_does_not_choose_how_often_the_client_returns() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.method == "POST" and request.message.get("method") == "initialize":
            writer.write(http_response("200 OK", result(request, INITIALIZED)))
        elif request.method == "POST" and "id" not in request.message:
            writer.write(http_response("202 Accepted"))
        elif request.method == "DELETE":
            writer.write(http_response("200 OK"))
        else:
            number = len(server.requests)
            writer.write(
                http_response("200 OK", b"id: %d\nretry: 0\ndata:\n\n" % number, "text/event-stream")
            )

    async with raw_http(respond) as server, Client(server.url, revision=BEFORE) as client:
        with pytest.raises(Timeout):
            await client.call_tool("anything", timeout=0.5)
        assert 6 <= sum(request.method == "GET" for request in server.requests) <= 11


async def test_names_of_tools_that_always_differ_do_not_add_up() -> None:
    link = HttpLink(read_address("http://127.0.0.1/"), LIMITS)
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}}
    for number in range(5):
        link.learn([ToolDefinition(name=f"{kind}{number}", input_schema=schema) for kind in "ab"])
    assert [*link._parameters] == ["a4", "b4"]


async def test_a_stored_result_does_not_keep_the_message_around_it() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        value = {"contents": [{"uri": "a:b", "text": "x"}], "ttlMs": 60_000, "resultType": "complete"}
        message = {"jsonrpc": "2.0", "id": request.message["id"], "padding": "x" * MIB, "result": value}
        writer.write(http_response("200 OK", json.dumps(message).encode()))

    async with raw_http(answering(respond)) as server, Client(server.url, limits=LIMITS) as client:
        await client.read("a:0")
        tracemalloc.start()
        for number in range(1, 9):
            await client.read(f"a:{number}")
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert len(server.requests) == 10 and held < 6 * MIB
