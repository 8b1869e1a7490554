"""Sessions and streams over HTTP: what the client repairs by itself."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import pytest

from assay import (
    Client,
    ClientLimits,
    ClientState,
    ConnectionFailed,
    HttpFailure,
    Limits,
    LogMessage,
    Retry,
    Server,
)
from assay.bundled.everything import server as everything
from assay.revisions.registry import DATES, HANDSHAKE
from tests.client.everything import connected
from tests.client.scripted import INITIALIZED, HttpRequest, RawServer, Writer, http_response, raw_http, result
from tests.driving.answer import PATIENCE
from tests.driving.hosts import on_assay

BEFORE = HANDSHAKE[-1].date
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


class Sessions:
    """A server with sessions that it can forget."""

    def __init__(self) -> None:
        self.number = 0
        self.forgotten: set[str] = set()
        self.calls: list[str] = []

    async def respond(self, request: HttpRequest, writer: Writer) -> None:
        method = request.message["method"] if request.body else request.method
        session = request.headers.get("mcp-session-id", "")
        if method == "initialize":
            assert not session
            self.number += 1
            extra = f"Mcp-Session-Id: session-{self.number}\r\n"
            writer.write(http_response("200 OK", result(request, INITIALIZED), extra=extra))
        elif session in self.forgotten:
            writer.write(
                http_response("404 Not Found", b'{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}')
            )
        elif "id" in (request.message if request.body else {}):
            self.calls.append(session)
            writer.write(http_response("200 OK", result(request, {"content": [], "tools": []})))
        else:
            writer.write(http_response("202 Accepted"))


async def test_a_forgotten_session_is_opened_again_and_the_call_repeated() -> None:
    sessions = Sessions()
    async with raw_http(sessions.respond) as server, Client(server.url, revision=BEFORE) as client:
        await client.call("first")
        sessions.forgotten.add("session-1")
        await asyncio.gather(*(client.call("second") for _ in range(4)))
        assert sessions.number == 2
        assert sessions.calls == ["session-1", *["session-2"] * 4]


async def test_a_list_begins_again_if_the_session_ends_between_two_pages() -> None:
    sessions = Sessions()
    cursors: list[str | None] = []

    async def respond(request: HttpRequest, writer: Writer) -> None:
        session = request.headers.get("mcp-session-id", "")
        if b"tools/list" not in request.body or session in sessions.forgotten:
            return await sessions.respond(request, writer)
        cursors.append(request.message.get("params", {}).get("cursor"))
        page: dict[str, Any] = {"tools": []}
        if session == "session-1":
            page["nextCursor"] = "of session 1"
            sessions.forgotten.add(session)
        writer.write(http_response("200 OK", result(request, page)))

    async with raw_http(respond) as server, Client(server.url, revision=BEFORE) as client:
        assert await client.tools() == []
        assert cursors == [None, None]


async def test_a_server_that_forgets_every_session_is_an_error() -> None:
    sessions = Sessions()
    sessions.forgotten |= {f"session-{number}" for number in range(10)}
    async with raw_http(sessions.respond) as server:
        with pytest.raises(HttpFailure, match="the server has ended the session"):
            async with Client(server.url, revision=BEFORE) as client:
                await client.call("anything")


async def test_sessions_that_end_on_a_real_server_do_not_matter() -> None:
    server = Server("short", limits=Limits(sessions=1), capabilities={"tools": True})
    async with on_assay(server.asgi()) as port:
        url = f"http://127.0.0.1:{port}/mcp"
        async with Client(url, revision=BEFORE) as client:
            await client.tools()
            async with Client(url, revision=DATES[-1]) as other:
                await other.tools()
            assert await client.tools() == []


async def test_closing_deletes_the_session() -> None:
    sessions = Sessions()
    async with raw_http(sessions.respond) as server:
        async with Client(server.url, revision=BEFORE):
            pass
        last = server.requests[-1]
        assert (last.method, last.headers["mcp-session-id"]) == ("DELETE", "session-1")


async def test_a_stream_that_the_server_closes_early_is_resumed() -> None:
    async with connected("http", revision=BEFORE) as client:
        assert "Reconnection test completed" in (await client.call("test_reconnection")).text


def break_off(request: HttpRequest, writer: Writer) -> None:
    """Open a session, and end the stream of a call before its answer."""
    if request.method == "DELETE" or "id" not in request.message:
        writer.write(http_response("202 Accepted"))
    elif request.message["method"] == "initialize":
        writer.write(http_response("200 OK", result(request, INITIALIZED)))
    else:
        writer.write(EVENTS + b"id: e7\nretry: 1\ndata: \n\n")
        writer.close()


def continue_stream(server: RawServer, writer: Writer) -> None:
    call = next(each for each in server.requests if b"tools/call" in each.body)
    writer.write(EVENTS + b"id: e8\ndata: " + result(call, {"content": []}) + b"\n\n")
    writer.close()


async def test_the_answer_is_taken_from_the_stream_that_continues_after_the_last_event() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.method == "GET":
            assert request.headers["last-event-id"] == "e7"
            continue_stream(server, writer)
        else:
            break_off(request, writer)

    server: RawServer
    async with raw_http(respond) as server, Client(server.url, revision=BEFORE) as client:
        assert (await client.call("anything")).content == []
        assert [request.method for request in server.requests].count("GET") == 1


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def cut(writer: Writer, event: bytes) -> None:
    """What a server sends that is killed in the midst of a stream: no last chunk."""
    writer.write(CHUNKED + b"%x\r\n%b\r\n" % (len(event), event))
    writer.close()


async def test_a_stream_that_is_cut_off_is_resumed_after_the_last_event_that_arrived() -> None:
    resumptions: list[str] = []

    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.method == "GET":
            resumptions.append(request.headers["last-event-id"])
            if len(resumptions) == 1:
                return cut(writer, b"id: e8\nretry: 1\ndata: \n\n")
            continue_stream(server, writer)
        elif request.method == "POST" and request.message["method"] == "tools/call":
            cut(writer, b"id: e7\nretry: 1\ndata: \n\n")
        else:
            break_off(request, writer)

    server: RawServer
    async with raw_http(respond) as server, Client(server.url, revision=BEFORE) as client:
        assert (await client.call("anything")).content == []
        assert resumptions == ["e7", "e8"]


async def test_a_connection_that_fails_while_a_stream_is_resumed_is_tried_again() -> None:
    resumptions: list[str] = []

    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.method == "GET":
            resumptions.append(request.headers["last-event-id"])
            if len(resumptions) < 3:
                writer.transport.abort()
                return
            continue_stream(server, writer)
        else:
            break_off(request, writer)

    server: RawServer
    async with raw_http(respond) as server, Client(server.url, revision=BEFORE) as client:
        assert (await client.call("anything")).content == []
        assert resumptions == ["e7"] * 3


async def test_a_stream_that_never_brings_the_answer_is_given_up() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.method == "POST" and request.message["method"] == "initialize":
            writer.write(http_response("200 OK", result(request, INITIALIZED)))
        elif request.method == "DELETE" or (request.body and "id" not in request.message):
            writer.write(http_response("202 Accepted"))
        else:
            first = b"id: 1\nretry: 0\ndata: \n\n" if request.method == "POST" else b": nothing\n\n"
            writer.write(EVENTS + first)
            writer.close()

    at_once = Retry(deadline=0)
    async with raw_http(respond) as server, Client(server.url, revision=BEFORE, retry=at_once) as client:
        with pytest.raises(ConnectionFailed, match="did not arrive on 5 further streams"):
            await client.call("anything")


async def test_what_a_server_sends_outside_of_calls_is_received() -> None:
    messages: asyncio.Queue[LogMessage] = asyncio.Queue()

    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.method == "GET":
            params = {"level": "info", "data": "hello"}
            note = {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
            writer.write(EVENTS + b"data: " + json.dumps(note).encode() + b"\n\n")
        elif request.method == "POST" and request.message["method"] == "initialize":
            writer.write(http_response("200 OK", result(request, INITIALIZED)))
        else:
            writer.write(http_response("202 Accepted"))

    async with (
        raw_http(respond) as server,
        Client(server.url, revision=BEFORE, on_log=messages.put_nowait),
    ):
        assert (await messages.get()).data == "hello"


@pytest.mark.parametrize("quick", [0, 6])
async def test_the_stream_is_opened_again_until_the_session_is_forgotten(quick: int) -> None:
    """A client may only listen: without a call it would not notice the end of the session."""
    states: asyncio.Queue[ClientState] = asyncio.Queue()
    opened = 0

    async def respond(request: HttpRequest, writer: Writer) -> None:
        nonlocal opened
        if request.method == "GET":
            opened += 1
            if opened <= quick:
                writer.write(EVENTS + b"retry: 0\ndata:\n\n")
                writer.close()
            else:
                writer.write(http_response("404 Not Found"))
        elif request.method == "POST" and request.message["method"] == "initialize":
            extra = "Mcp-Session-Id: s1\r\n"
            writer.write(http_response("200 OK", result(request, INITIALIZED), extra=extra))
        else:
            writer.write(http_response("202 Accepted"))

    async with (
        raw_http(respond) as server,
        Client(
            server.url,
            revision=BEFORE,
            on_change=lambda change: None,
            on_state=lambda change: states.put_nowait(change.state),
        ),
    ):
        async with asyncio.timeout(3 * PATIENCE):
            while await states.get() is not ClientState.LOST:
                pass
    assert opened == quick + 1


async def test_an_answer_on_a_stream_that_stays_open_is_returned_at_once() -> None:
    from tests.client.scripted import answering

    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(EVENTS + b"data: " + result(request, {"content": []}) + b"\n\n")

    limits = ClientLimits(close_timeout=0.1)
    async with raw_http(answering(respond)) as server, Client(server.url, limits=limits) as client:
        assert (await client.call("anything")).content == []
        await server.ended.wait()  # the connection is not kept


async def test_calls_at_the_same_time_share_a_bounded_number_of_connections() -> None:
    from tests.client.scripted import answering

    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(http_response("200 OK", result(request, {"content": []})))

    limits = ClientLimits(connections=3)
    async with raw_http(answering(respond)) as server, Client(server.url, limits=limits) as client:
        await asyncio.gather(*(client.call("anything") for _ in range(50)))
        assert len(server.connections) <= 3


async def test_one_client_serves_many_tasks() -> None:
    async with on_assay(everything.asgi()) as port, Client(f"http://127.0.0.1:{port}/mcp") as client:
        results = await asyncio.gather(*(client.call("test_simple_text") for _ in range(200)))
        assert len({item.text for item in results}) == 1


@pytest.mark.parametrize(
    ("target", "options", "kind", "text"),
    [
        ("python server.py", {}, ValueError, r"write Stdio\('python', 'server.py'\) for a command"),
        ("ftp://example.com", {}, ValueError, "starts with http://"),
        ("http://user:secret@example.com", {}, ValueError, "Authorization"),
        ("http://exa mple.com/", {}, ValueError, "no spaces"),
        ("http://example.com:port/", {}, ValueError, "not a URL"),
        ("http://example.com/", {"headers": {"Host": "x"}}, ValueError, "writes the header Host itself"),
        ("http://example.com/", {"headers": {"X": "a\r\nb"}}, ValueError, "value of header X"),
        ("http://example.com/", {"headers": {"X y": "a"}}, ValueError, "not a header name"),
        (Server("s"), {"headers": {"X": "a"}}, TypeError, "for servers with a URL"),
        (42, {}, TypeError, "connects to a Server, a URL, Stdio"),
        (Server("s"), {"revision": "2020-01-01"}, ValueError, "unknown protocol revision"),
    ],
)
def test_mistakes_are_refused_where_the_client_is_created(
    target: Any, options: dict[str, Any], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        Client(target, **options)


async def test_the_stream_for_questions_is_open_before_the_first_call() -> None:
    """Some servers drop what they send while there is no such stream."""
    called = asyncio.Event()
    early: list[bool] = []

    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.method == "GET":
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(called.wait(), 0.1)
            early.append(called.is_set())
            writer.write(EVENTS)
        elif b"tools/call" in request.body:
            called.set()
            writer.write(http_response("200 OK", result(request, {"content": []})))
        else:
            await Sessions().respond(request, writer)

    options: Any = {"revision": BEFORE, "elicitation": lambda _: None}
    async with raw_http(respond) as server, Client(server.url, **options) as client:
        await client.call("anything")
    assert early == [False]
