"""What a caller sees when an HTTP server fails, in real sockets."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import pytest

from assay import (
    Client,
    ClientError,
    ClientLimits,
    ConnectionFailed,
    HttpFailure,
    InvalidAnswer,
    ServerError,
    Timeout,
)
from assay.revisions.registry import HANDSHAKE
from assay.transport.client import http_pool
from tests.client.scripted import (
    DISCOVERY,
    INITIALIZED,
    HttpRequest,
    Writer,
    answering,
    http_response,
    raw_http,
    result,
)

BEFORE = HANDSHAKE[-1].date


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def failure_of(raw: bytes, call: str = "call") -> Exception:
    """The exception of a call that is answered with these bytes, and then with the end of the connection."""

    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(raw)
        writer.close()

    async with raw_http(answering(respond)) as server, Client(server.url, limits=LIMITS) as client:
        with pytest.raises(ClientError) as failure:
            await (client.call("anything") if call == "call" else client.tools())
        return failure.value


LIMITS = ClientLimits(message_bytes=10_000, head_bytes=4096, close_timeout=0.5)


async def test_a_closed_port_is_one_plain_error() -> None:
    url = f"http://127.0.0.1:{free_port()}/mcp"
    with pytest.raises(ConnectionFailed, match="connection refused; is the server running") as failure:
        async with Client(url):
            pass
    assert url in str(failure.value)
    assert isinstance(failure.value.__cause__, OSError)


async def test_an_unknown_host_is_named() -> None:
    with pytest.raises(ConnectionFailed, match=r"cannot be resolved|no answer"):
        async with Client("http://no-such-host.invalid/mcp"):
            pass


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        ("401 Unauthorized", "wants credentials"),
        ("403 Forbidden", "refuses this caller"),
        ("404 Not Found", "often it ends with /mcp"),
        ("405 Method Not Allowed", "often it ends with /mcp"),
        ("429 Too Many Requests", "wait, then try again"),
        ("500 Internal Server Error", "HTTP status 500"),
        ("502 Bad Gateway", "the proxy does not reach the server"),
        ("503 Service Unavailable", "busy or stopping"),
    ],
)
async def test_a_status_comes_with_the_body_and_what_to_change(status: str, hint: str) -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(http_response(status, b"<html>sorry\x1b[31m</html>", "text/html"))

    async with raw_http(respond) as server:
        with pytest.raises(HttpFailure, match=hint) as failure:
            async with Client(server.url):
                pass
    assert failure.value.status == int(status[:3])
    assert failure.value.body.startswith("<html>sorry")
    assert "\x1b" not in str(failure.value)


async def test_the_challenge_of_a_401_is_shown() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        extra = 'WWW-Authenticate: Bearer resource_metadata="https://example.com/x"\r\n'
        writer.write(http_response("401 Unauthorized", extra=extra))

    async with raw_http(respond) as server:
        with pytest.raises(HttpFailure, match="resource_metadata="):
            async with Client(server.url):
                pass
        assert len(server.requests) == 1  # another revision would be refused as well


async def test_a_server_that_knows_only_the_handshake_is_opened_with_it_and_remembered() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.method != "POST":
            writer.write(http_response("405 Method Not Allowed"))
        elif request.message["method"] == "initialize":
            assert "mcp-protocol-version" not in request.headers
            writer.write(
                http_response("200 OK", result(request, INITIALIZED), extra="Mcp-Session-Id: s1\r\n")
            )
        elif request.headers.get("mcp-session-id") != "s1":
            writer.write(http_response("400 Bad Request", b"Missing session ID", "text/plain"))
        elif "id" not in request.message:
            writer.write(http_response("202 Accepted"))
        else:
            assert request.headers["mcp-protocol-version"] == BEFORE
            writer.write(http_response("200 OK", result(request, {})))

    async with raw_http(respond) as server:
        for _ in range(2):
            async with Client(server.url) as client:
                assert client.revision == BEFORE
                await client.ping()
        methods = [json.loads(request.body)["method"] for request in server.requests if request.body]
        assert methods == [
            *("server/discover", "initialize", "notifications/initialized", "ping"),
            *("initialize", "notifications/initialized", "ping"),
        ]
        assert [request.method for request in server.requests].count("DELETE") == 2


async def test_errors_in_the_body_of_a_refusal_are_errors_of_the_server() -> None:
    body = b'{"jsonrpc":"2.0","error":{"code":-32602,"message":"no such tool"}}'
    error = await failure_of(http_response("400 Bad Request", body))
    assert isinstance(error, ServerError)
    assert (error.code, error.status) == (-32602, 400)


async def test_a_redirect_within_the_origin_is_followed() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.target == "/mcp":
            writer.write(http_response("307 Temporary Redirect", extra="Location: /mcp/\r\n"))
        else:
            writer.write(http_response("200 OK", result(request, DISCOVERY)))

    async with (
        raw_http(respond) as server,
        Client(server.url, headers={"Authorization": "Bearer x"}) as client,
    ):
        await client.ping()
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer x"}


@pytest.mark.parametrize(
    "location", ["http://localhost:1/mcp", "https://127.0.0.1/mcp", "//example.com/", "nonsense://x", ""]
)
async def test_a_redirect_to_another_origin_gets_neither_request_nor_token(location: str) -> None:
    error = await failure_of(http_response("307 Temporary Redirect", extra=f"Location: {location}\r\n"))
    assert isinstance(error, HttpFailure)
    assert error.status == 307
    assert f"redirected to {location}" in str(error)


async def test_a_redirect_that_would_change_the_method_is_an_error() -> None:
    error = await failure_of(http_response("302 Found", extra="Location: /other\r\n"))
    assert isinstance(error, HttpFailure) and error.status == 302


async def test_endless_redirects_end() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(http_response("307 Temporary Redirect", extra="Location: /mcp\r\n"))

    async with raw_http(answering(respond)) as server, Client(server.url) as client:
        with pytest.raises(HttpFailure, match="too many redirects"):
            await client.tools()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    ("raw", "kind", "text"),
    [
        (b"", ConnectionFailed, "closed the connection before the answer"),
        (b"nonsense\r\n\r\n", InvalidAnswer, "HTTP response is invalid"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", ConnectionFailed, "before the answer was complete"),
        (HEAD + b"Content-Length: 100\r\n\r\n{}", ConnectionFailed, "before the answer was complete"),
        (HEAD + b"Content-Length: 2\r\n\r\n{}", InvalidAnswer, "not a message"),
        (HEAD + b"Content-Length: 2\r\n\r\n\xff{", InvalidAnswer, "not a message"),
        (
            http_response("200 OK", b'{"jsonrpc":"2.0","id":"x","result":{}}'),
            InvalidAnswer,
            "id of the request",
        ),
        (http_response("200 OK", b"<html>", "text/html"), HttpFailure, "is this an MCP endpoint"),
        (http_response("202 Accepted"), HttpFailure, "not with a message"),
        (http_response("200 OK", b"{}", extra="Content-Encoding: gzip\r\n"), InvalidAnswer, "compressed"),
        (HEAD + b"Content-Length: 99999\r\n\r\n", InvalidAnswer, "exceeds limits.message_bytes: 10000"),
        (HEAD + b"\r\n" + b"[" * 20_000, InvalidAnswer, "exceeds limits.message_bytes: 10000"),
        (HEAD + b"X: " + b"x" * 50_000, InvalidAnswer, "exceeds limits.head_bytes: 4096"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, InvalidAnswer, "exceeds limits.head_bytes"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\nA: " + b"b" * 50_000, InvalidAnswer, "head_bytes"),
        (EVENTS + b"data: " + b"x" * 20_000, InvalidAnswer, "exceeds limits.message_bytes: 10000"),
        (EVENTS + b"data: nonsense\n\n", InvalidAnswer, "not a message"),
        (EVENTS + b": nothing\n\n", ConnectionFailed, "ended the stream before the answer"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", ClientError, ""),
    ],
)
async def test_a_broken_answer_is_one_clear_error(raw: bytes, kind: type[Exception], text: str) -> None:
    error = await failure_of(raw)
    assert isinstance(error, kind)
    assert text in str(error)


async def test_deeply_nested_answers_are_refused() -> None:
    body = b'{"jsonrpc":"2.0","id":"assay-2","result":' + b"[" * 4000 + b"]" * 4000 + b"}"
    assert "nested too deep: limit 64" in str(await failure_of(http_response("200 OK", body)))


async def test_no_compression_is_asked_for() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(http_response("200 OK", result(request, {"tools": []})))

    async with raw_http(answering(respond)) as server, Client(server.url) as client:
        await client.tools()
        assert all("accept-encoding" not in request.headers for request in server.requests)


async def test_a_call_that_is_not_answered_times_out_and_closes_its_connection() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        pass  # reads on, and notices the end of the connection

    async with raw_http(answering(respond)) as server, Client(server.url) as client:
        with pytest.raises(Timeout, match=r"no answer to tools/call in 0\.05 s"):
            await client.call_tool("slow", timeout=0.05)
        await server.ended.wait()
        await client.ping()  # the client is still usable


async def test_over_http_with_a_handshake_a_timeout_sends_the_cancellation() -> None:
    cancelled: asyncio.Queue[Any] = asyncio.Queue()

    async def respond(request: HttpRequest, writer: Writer) -> None:
        method = request.message["method"] if request.body else ""
        if method == "initialize":
            writer.write(http_response("200 OK", result(request, INITIALIZED)))
        elif method == "notifications/cancelled":
            cancelled.put_nowait(request.message["params"])
            writer.write(http_response("202 Accepted"))
        elif method != "tools/call":
            writer.write(http_response("202 Accepted"))

    async with raw_http(respond) as server, Client(server.url, revision=BEFORE) as client:
        with pytest.raises(TimeoutError):
            await client.call_tool("slow", timeout=0.05)
        params = await cancelled.get()
        calls = [json.loads(request.body) for request in server.requests if b"tools/call" in request.body]
        assert params["requestId"] == calls[0]["id"]


async def test_a_connection_that_closed_while_idle_is_replaced() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(http_response("200 OK", result(request, {"tools": [], "content": []})))

    async with raw_http(answering(respond)) as server, Client(server.url) as client:
        await client.tools()
        for writer in server.connections:
            writer.transport.abort()
        await client.tools()


async def test_a_program_that_blocked_the_loop_does_not_call_into_a_closed_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(http_response("200 OK", result(request, {"content": []})))

    async with raw_http(answering(respond)) as server, Client(server.url) as client:
        await client.call("pay")
        monkeypatch.setattr(http_pool, "STALE", 0.0)
        for writer in server.connections:
            # At once, so that the client's loop has no turn to notice it.
            writer.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        await client.call("pay")
        assert len(server.connections) == 2


async def test_a_request_without_an_effect_is_repeated_if_its_connection_closed() -> None:
    calls: list[str] = []

    async def respond(request: HttpRequest, writer: Writer) -> None:
        calls.append(request.message["method"])
        if len(calls) == 1:
            writer.transport.abort()  # the connection was used before, and nothing was answered
        else:
            writer.write(http_response("200 OK", result(request, {"tools": []})))

    async with raw_http(answering(respond)) as server, Client(server.url) as client:
        assert await client.tools() == []
        assert calls == ["tools/list", "tools/list"]


async def test_a_tool_call_is_never_sent_twice() -> None:
    calls: list[str] = []

    async def respond(request: HttpRequest, writer: Writer) -> None:
        calls.append(request.message["method"])
        writer.transport.abort()

    async with raw_http(answering(respond)) as server, Client(server.url) as client:
        with pytest.raises(ConnectionFailed):
            await client.call("pay")
        assert calls == ["tools/call"]
