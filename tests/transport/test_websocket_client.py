"""The WebSocket client, against a server of the `websockets` library."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from assay import Limits
from assay.model.error import MissingExtra
from assay.transport.websocket_client import CloseStatus, ConnectionEnded, ConnectionFailed, WebSocketClient
from tests.driving.answer import PATIENCE

Behaviour = Callable[[ServerConnection], Awaitable[None]]


@contextlib.asynccontextmanager
async def serving(behaviour: Behaviour, **options: Any) -> AsyncIterator[str]:
    async with serve(behaviour, "127.0.0.1", 0, **{"subprotocols": ["mcp"], **options}) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with asyncio.timeout(PATIENCE):
            yield f"ws://127.0.0.1:{port}/mcp/ws"


async def echo(connection: ServerConnection) -> None:
    async for message in connection:
        await connection.send(message)


async def test_messages_go_both_ways_in_order() -> None:
    async with serving(echo) as url, await WebSocketClient.connect(url) as client:
        assert client.subprotocol == "mcp"
        sent = [f'{{"text":"ü \U0001f600","number":{number}}}'.encode() for number in range(20)]
        for message in sent:
            await client.send(message)
        received = []
        async for message in client:
            received.append(message)
            if len(received) == len(sent):
                break
        assert sent == received
        assert client.ended is None
        assert await client.ping() >= 0


async def test_headers_and_subprotocol_reach_the_server() -> None:
    connections: list[tuple[str | None, str | None, str]] = []

    async def look(connection: ServerConnection) -> None:
        assert connection.request is not None
        headers = connection.request.headers
        extensions = headers.get("Sec-WebSocket-Extensions")
        connections.append((headers.get("Authorization"), extensions, connection.request.path))

    async with serving(look) as url:
        client = await WebSocketClient.connect(url, headers={"Authorization": "Bearer x"})
        assert [message async for message in client] == []
    assert connections == [("Bearer x", None, "/mcp/ws")]


async def test_server_without_subprotocols_is_fine() -> None:
    async with serving(echo, subprotocols=None) as url, await WebSocketClient.connect(url) as client:
        assert client.subprotocol is None


async def test_iteration_ends_with_the_connection_and_the_reason_is_kept() -> None:
    async def part(connection: ServerConnection) -> None:
        await connection.send("last")
        await connection.close(1001, "the server is stopping")

    async with serving(part) as url:
        client = await WebSocketClient.connect(url)
        assert [message async for message in client] == [b"last"]
        assert client.ended == CloseStatus(1001, "the server is stopping")
        for attempt in (client.send(b"{}"), client.ping()):
            with pytest.raises(ConnectionEnded, match=r"the server is stopping \(1001\)"):
                await attempt
        await client.close()


async def test_broken_connection_has_code_1006() -> None:
    async def vanish(connection: ServerConnection) -> None:
        connection.transport.abort()

    async with serving(vanish) as url:
        client = await WebSocketClient.connect(url)
        assert [message async for message in client] == []
        assert client.ended == CloseStatus(1006, "")


async def test_close_code_and_reason_reach_the_server() -> None:
    closed: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def listen(connection: ServerConnection) -> None:
        await connection.wait_closed()
        closed.set_result((connection.close_code, connection.close_reason))

    async with serving(listen) as url:
        client = await WebSocketClient.connect(url)
        await client.close(4000, "enough")
        assert await closed == (4000, "enough")
        assert client.ended == CloseStatus(4000, "enough")


async def test_message_over_the_limit_ends_the_connection() -> None:
    async with serving(echo, max_size=None) as url:
        client = await WebSocketClient.connect(url, limits=Limits(message_bytes=100))
        await client.send(b"x" * 100)
        await client.send(b"x" * 101)
        assert [message async for message in client] == [b"x" * 100]
        assert client.ended is not None and client.ended.code == 1009


async def test_binary_message_ends_the_connection() -> None:
    async def speak_binary(connection: ServerConnection) -> None:
        await connection.send(b"{}")
        await connection.wait_closed()

    async with serving(speak_binary) as url:
        client = await WebSocketClient.connect(url)
        assert [message async for message in client] == []
        assert client.ended == CloseStatus(1003, "messages are text")


async def test_refusal_names_its_status() -> None:
    async def refuse(connection: ServerConnection, request: Any) -> Any:
        return connection.respond(403, "origin not allowed")

    async with serving(echo, process_request=refuse) as url:
        with pytest.raises(ConnectionFailed, match="refused with HTTP status 403") as failed:
            await WebSocketClient.connect(url)
        assert (failed.value.status, failed.value.url) == (403, url)


async def test_refused_address_is_named() -> None:
    async with serving(echo) as url:
        pass
    with pytest.raises(ConnectionFailed, match=url) as failed:
        await WebSocketClient.connect(url)
    assert failed.value.status is None


async def test_server_that_never_answers_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ConnectionFailed, match="timed out"):
            await WebSocketClient.connect(f"ws://127.0.0.1:{port}/", timeout=0.05)


@pytest.mark.parametrize("url", ["http://localhost/mcp", "localhost:3000", ""])
async def test_url_of_another_scheme_is_refused(url: str) -> None:
    with pytest.raises(ConnectionFailed, match="must start with ws://"):
        await WebSocketClient.connect(url)


async def test_missing_library_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "websockets.asyncio.client", None)
    with pytest.raises(MissingExtra, match=r'pip install "assay-mcp\[ws\]"'):
        await WebSocketClient.connect("ws://localhost/")
