"""HTTP+SSE, for servers of the first revision: a scripted server on raw sockets."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from assay import (
    Client,
    ClientError,
    ClientLimits,
    ClientState,
    ConnectionFailed,
    HttpFailure,
    InvalidAnswer,
    Retry,
    ServerError,
    Timeout,
)
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.client.scripted import (
    DISCOVERY,
    HttpRequest,
    RawServer,
    Writer,
    http_response,
    raw_http,
    result,
)

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
QUICK = ClientLimits(message_bytes=10_000, connect_timeout=0.3, close_timeout=0.3)
FAST = Retry(first=0.01, longest=0.02)


def event(name: str, data: str) -> bytes:
    return f"event: {name}\ndata: {data}\n\n".encode()


class SseServer:
    """Refuses POST on /mcp, streams there on GET, and takes messages at the endpoint that it names."""

    def __init__(self, endpoint: str = "/messages?session=secret", refusal: str = "405 No POST") -> None:
        self.endpoint = endpoint
        self.refusal = refusal
        self.streams: list[Writer] = []
        self.results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": HANDSHAKE[0].date,
                "capabilities": {},
                "serverInfo": {"name": "old", "version": "1"},
            },
            "tools/list": {"tools": []},
            "ping": {},
        }
        self.statuses: dict[str, str] = {}
        """HTTP statuses of the next POST, by method."""

    async def respond(self, request: HttpRequest, writer: Writer) -> None:
        if request.method == "GET":
            self.streams.append(writer)
            writer.write(STREAM + b": hello\n\n" + event("endpoint", self.endpoint))
        elif request.target == "/mcp":
            writer.write(http_response(self.refusal, b"use GET", "text/plain"))
        else:
            self.take(request.message, writer)

    def take(self, message: dict[str, Any], writer: Writer) -> None:
        method = message.get("method", "")
        status = self.statuses.pop(method, "202 Accepted")
        writer.write(http_response(status, b"text", "text/plain"))
        if not status.startswith("202"):
            return
        if method == "tools/call":
            self.on_call(message)
        elif "id" in message and method in self.results:
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": self.results[method]})

    def on_call(self, message: dict[str, Any]) -> None:
        error = {"code": -32602, "message": "no such tool"}
        self.send({"jsonrpc": "2.0", "id": message["id"], "error": error})

    def send(self, message: Any) -> None:
        self.streams[-1].write(event("message", json.dumps(message)))


@contextlib.asynccontextmanager
async def connected(behaviour: SseServer, **options: Any) -> AsyncIterator[tuple[RawServer, Client]]:
    options = {"limits": QUICK, "retry": FAST, **options}
    async with raw_http(behaviour.respond) as server, Client(server.url, **options) as client:
        yield server, client


async def test_a_server_that_refuses_post_is_opened_with_a_stream() -> None:
    async with connected(SseServer()) as (server, client):
        assert client.revision == HANDSHAKE[0].date
        assert await client.tools() == []
        await client.ping()
        requests = [(request.method, request.target) for request in server.requests]
        # Both ways of opening are refused, then the stream is tried.
        assert requests[:4] == [("POST", "/mcp"), ("POST", "/mcp"), ("GET", "/mcp"), ("POST", SECRET)]
        assert json.loads(server.requests[3].body)["method"] == "initialize"


SECRET = "/messages?session=secret"


async def test_an_endpoint_that_needs_the_stream_is_remembered() -> None:
    behaviour = SseServer()
    async with raw_http(behaviour.respond) as server:
        async with Client(server.url, limits=QUICK):
            pass
        count = len(server.requests)
        async with Client(server.url, limits=QUICK) as client:
            await client.ping()
        assert [(request.method, request.target) for request in server.requests[count:]][:2] == [
            ("GET", "/mcp"),
            ("POST", SECRET),
        ]


async def test_an_endpoint_that_no_longer_needs_it_is_opened_as_others() -> None:
    behaviour, is_newer = SseServer(), asyncio.Event()

    async def respond(request: HttpRequest, writer: Writer) -> None:
        if not is_newer.is_set():
            await behaviour.respond(request, writer)
        elif request.method == "GET":
            writer.write(http_response("405 No GET"))
        else:
            writer.write(http_response("200 OK", result(request, DISCOVERY)))

    async with raw_http(respond) as server:
        async with Client(server.url, limits=QUICK):
            pass
        is_newer.set()
        for _ in range(2):
            async with Client(server.url, limits=QUICK) as client:
                assert client.revision == PER_REQUEST[-1].date
        assert [request.method for request in server.requests].count("GET") == 2


@pytest.mark.parametrize("status", ["400 Bad Request", "404 Not Found", "405 Method Not Allowed"])
async def test_the_statuses_of_the_specification_lead_to_the_stream(status: str) -> None:
    async with connected(SseServer(refusal=status)) as (_, client):
        await client.ping()


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "500 Broken", "503 Busy"])
async def test_other_statuses_do_not(status: str) -> None:
    behaviour = SseServer(refusal=status)
    with pytest.raises(HttpFailure) as failure:
        async with connected(behaviour):
            pass
    assert failure.value.status == int(status[:3])
    assert not behaviour.streams


async def test_a_revision_without_this_transport_does_not_use_it() -> None:
    behaviour = SseServer()
    with pytest.raises(HttpFailure, match="does not accept POST"):
        async with connected(behaviour, revision=PER_REQUEST[-1].date):
            pass
    assert not behaviour.streams


async def test_headers_of_the_user_reach_the_stream_and_the_endpoint() -> None:
    async with connected(SseServer(), headers={"Authorization": "Bearer x"}) as (server, _):
        assert {request.headers.get("authorization") for request in server.requests} == {"Bearer x"}


@pytest.mark.parametrize(
    "endpoint",
    ["http://localhost:1/messages", "//example.com/", "https://127.0.0.1/x", "ftp://x", "x" * 5000],
)
async def test_an_endpoint_on_another_origin_gets_nothing(endpoint: str) -> None:
    behaviour = SseServer(endpoint)
    with pytest.raises(HttpFailure, match="does not accept POST") as failure:
        async with connected(behaviour, headers={"Authorization": "Bearer x"}):
            pass
    cause = failure.value.__cause__
    assert isinstance(cause, InvalidAnswer)
    assert "not an address of its own origin" in str(cause)


async def test_a_stream_without_an_endpoint_is_given_up() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.method == "GET":
            writer.write(STREAM + b": nothing\n\n")
        else:
            writer.write(http_response("405 No POST"))

    async with raw_http(respond) as server:
        with pytest.raises(HttpFailure, match="does not accept POST") as failure:
            async with Client(server.url, limits=QUICK):
                pass
    assert "no endpoint event" in str(failure.value.__cause__)


async def test_errors_of_the_server_are_those_of_other_transports() -> None:
    async with connected(SseServer()) as (_, client):
        with pytest.raises(ServerError, match="no such tool"):
            await client.call("anything")


async def test_a_refused_message_fails_its_call_without_the_secret_of_the_session() -> None:
    behaviour = SseServer()
    async with connected(behaviour) as (_, client):
        behaviour.statuses["tools/call"] = "500 Broken"
        with pytest.raises(HttpFailure, match="HTTP status 500") as failure:
            await client.call("anything")
        assert "secret" not in str(failure.value)


async def test_a_session_that_the_server_forgot_is_opened_again() -> None:
    behaviour = SseServer()
    async with connected(behaviour) as (_, client):
        behaviour.statuses["tools/list"] = "404 Not Found"
        assert await client.tools() == []
        assert len(behaviour.streams) == 2


async def test_a_stream_that_ends_is_opened_again_for_the_next_call() -> None:
    class Ending(SseServer):
        def on_call(self, message: dict[str, Any]) -> None:
            self.streams[-1].close()

    behaviour = Ending()
    async with connected(behaviour) as (_, client):
        with pytest.raises(ConnectionFailed, match=r"the server (ended the event stream|closed)"):
            await client.call("anything")
        assert client.state is ClientState.LOST
        assert await client.tools() == []
        assert len(behaviour.streams) == 2


async def test_what_is_not_a_message_is_ignored_and_shown_when_something_fails() -> None:
    class Noisy(SseServer):
        def on_call(self, message: dict[str, Any]) -> None:
            self.streams[-1].write(event("message", "hello\x1b") + event("other", "ignored"))

    async with connected(Noisy()) as (_, client):
        with pytest.raises(Timeout, match="not a message: hello␛"):
            await client.call_tool("slow", timeout=0.2)
        assert await client.tools() == []


async def test_an_endless_event_is_one_error() -> None:
    class Endless(SseServer):
        def on_call(self, message: dict[str, Any]) -> None:
            self.streams[-1].write(b"data: " + b"x" * 20_000)

    async with connected(Endless()) as (_, client):
        with pytest.raises(InvalidAnswer, match=r"exceeds limits\.message_bytes: 10000"):
            await client.call("anything")


async def test_closing_ends_the_stream_and_its_task() -> None:
    behaviour = SseServer()
    async with raw_http(behaviour.respond) as server:
        before = asyncio.all_tasks()
        client = await Client(server.url).open()
        call = asyncio.create_task(client.request("com.example/silent"))
        await asyncio.wait([call], timeout=0.05)
        await client.close()
        with pytest.raises(ClientError):
            await call
        await server.ended.wait()
        assert not [task for task in asyncio.all_tasks() - before if "assay" in repr(task)]
