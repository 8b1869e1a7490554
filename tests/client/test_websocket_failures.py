"""What a caller sees when a WebSocket server fails; the server is one of the `websockets` library."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from assay import (
    Client,
    ClientError,
    ClientLimits,
    ConnectionFailed,
    HttpFailure,
    InvalidAnswer,
    Retry,
    Timeout,
)
from tests.client.scripted import DISCOVERY, HttpRequest, Writer, http_response, raw_http
from tests.driving.answer import PATIENCE

Behaviour = Callable[[ServerConnection, dict[str, Any]], Awaitable[None]]
LIMITS = ClientLimits(message_bytes=10_000, close_timeout=0.5)


@contextlib.asynccontextmanager
async def serving(behaviour: Behaviour, **options: Any) -> AsyncIterator[str]:
    """Agrees to the newest revision, then does what `behaviour` says with each message."""

    async def answer(connection: ServerConnection) -> None:
        async for text in connection:
            message = json.loads(text)
            if message.get("method") == "server/discover":
                reply = {"jsonrpc": "2.0", "id": message["id"], "result": DISCOVERY}
                await connection.send(json.dumps(reply))
            else:
                await behaviour(connection, message)

    settings = {"subprotocols": ["mcp"], "compression": None, **options}
    async with serve(answer, "127.0.0.1", 0, **settings) as server:
        async with asyncio.timeout(3 * PATIENCE):
            yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/mcp/ws"


async def close(connection: ServerConnection, message: dict[str, Any]) -> None:
    await connection.close(1013, "come back later")


async def drop(connection: ServerConnection, message: dict[str, Any]) -> None:
    connection.transport.abort()


async def large(connection: ServerConnection, message: dict[str, Any]) -> None:
    await connection.send("x" * 20_000)


@pytest.mark.parametrize(
    ("behaviour", "kind", "text"),
    [
        (close, ConnectionFailed, "come back later (1013)"),
        (drop, ConnectionFailed, "closed the connection"),
        (large, InvalidAnswer, "message too big: limit 10000 bytes"),
    ],
)
async def test_a_connection_that_fails_is_one_clear_error(
    behaviour: Behaviour, kind: type[ClientError], text: str
) -> None:
    async with (
        serving(behaviour) as url,
        Client(url, limits=LIMITS, retry=Retry(deadline=0, restarts=0)) as client,
    ):
        with pytest.raises(kind) as failure:
            await client.call("anything")
        assert text in str(failure.value)
        with pytest.raises(kind):
            await client.tools()


async def test_a_closed_connection_is_opened_again_for_the_next_call() -> None:
    async def once(connection: ServerConnection, message: dict[str, Any]) -> None:
        if message["method"] == "tools/call":
            await connection.close()
        else:
            await connection.send(
                json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}})
            )

    async with serving(once) as url, Client(url) as client:
        with pytest.raises(ConnectionFailed):
            await client.call("anything")
        assert await client.tools() == []


async def test_what_is_not_a_message_is_ignored_and_shown_when_something_fails() -> None:
    async def noisy(connection: ServerConnection, message: dict[str, Any]) -> None:
        await connection.send("hello\x1b")
        await connection.send(b"binary")
        if message["method"] == "tools/list":
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}}
            await connection.send(json.dumps(reply))

    async with serving(noisy) as url, Client(url) as client:
        assert await client.tools() == []
        with pytest.raises(Timeout, match=r"not a message: hello␛\n  not a message: \(binary, 6 bytes\)"):
            await client.call_tool("slow", timeout=0.1)


async def test_pings_are_answered() -> None:
    async def ping(connection: ServerConnection, message: dict[str, Any]) -> None:
        await (await connection.ping())
        await connection.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}}))

    async with serving(ping) as url, Client(url) as client:
        assert await client.tools() == []


async def test_a_timeout_sends_the_cancellation() -> None:
    messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def listen(connection: ServerConnection, message: dict[str, Any]) -> None:
        messages.put_nowait(message)

    async with serving(listen) as url, Client(url) as client:
        with pytest.raises(Timeout):
            await client.call_tool("slow", timeout=0.05)
        call, cancelled = await messages.get(), await messages.get()
        assert cancelled["method"] == "notifications/cancelled"
        assert cancelled["params"]["requestId"] == call["id"]


@pytest.mark.parametrize(
    ("raw", "kind", "text"),
    [
        (http_response("403 Forbidden", b"go away", "text/plain"), HttpFailure, "refuses this caller"),
        (http_response("200 OK", b"hello", "text/plain"), HttpFailure, "does not accept a WebSocket here"),
        (b"nonsense", InvalidAnswer, "HTTP response is invalid"),
        (b"", ConnectionFailed, "closed the connection"),
        (b"HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", InvalidAnswer, "Accept"),
        (b"HTTP/1.1 101 S\r\nX: " + b"x" * 100_000, InvalidAnswer, "head_bytes"),
    ],
)
async def test_a_handshake_that_fails_is_one_clear_error(
    raw: bytes, kind: type[ClientError], text: str
) -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(raw)
        writer.close()

    async with raw_http(respond) as server:
        with pytest.raises(kind) as failure:
            async with Client(server.url.replace("http", "ws")):
                pass
    assert text in str(failure.value)


async def test_headers_and_subprotocol_reach_the_server() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.close()

    async with raw_http(respond) as server:
        with pytest.raises(ConnectionFailed):
            async with Client(server.url.replace("http", "ws"), headers={"Authorization": "Bearer x"}):
                pass
        headers = server.requests[0].headers
        assert headers["authorization"] == "Bearer x"
        assert headers["sec-websocket-protocol"] == "mcp"
        assert "sec-websocket-extensions" not in headers


async def test_an_upgrade_that_is_not_answered_is_given_up() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        pass

    async with raw_http(respond) as server:
        with pytest.raises(ConnectionFailed, match="no answer in time"):
            async with Client(server.url.replace("http", "ws"), limits=ClientLimits(connect_timeout=0.1)):
                pass
        await server.ended.wait()
