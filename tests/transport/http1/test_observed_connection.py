"""What observers get of the requests of a connection."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from assay import Server
from assay.transport.http1.listening import listen
from assay.transport.http1.observer import Answered, Observation
from assay.transport.http1.server import serve
from tests.driving.answer import PATIENCE


@asynccontextmanager
async def observed() -> AsyncIterator[tuple[int, list[Answered], Observation]]:
    server, stop = Server("observed"), asyncio.Event()
    seen: list[Answered] = []
    observation = Observation(seen.append)
    bound = listen("127.0.0.1", 0)
    port = bound.getsockname()[1]
    app = server.asgi(probes="on")
    serving = asyncio.create_task(serve(app, bound, stop.wait, limits=server.limits, observation=observation))
    try:
        yield port, seen, observation
    finally:
        stop.set()
        async with asyncio.timeout(PATIENCE):
            await serving


async def exchange(port: int, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    async with asyncio.timeout(PATIENCE):
        answer = await reader.read()
    writer.close()
    return answer


PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
POST = (
    b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n"
    b"accept: application/json, text/event-stream\r\ncontent-length: %d\r\n\r\n" % len(PING)
) + PING
UPGRADE = (
    b"GET /mcp/ws HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
    b"sec-websocket-version: 13\r\nsec-websocket-protocol: mcp\r\n"
    b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


@pytest.mark.parametrize(
    ("data", "method", "path", "status"),
    [
        (POST, "POST", "/mcp", 200),
        (b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", "GET", "/health", 200),
        (b"HEAD /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", "HEAD", "/health", 200),
        (b"GET /nowhere HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", "GET", "/nowhere", 404),
        (b"POST /mcp HTTP/1.1\r\nhost: evil\r\nconnection: close\r\n\r\n", "POST", "/mcp", 421),
        (b"garbage\r\n\r\n", None, None, 400),
    ],
)
async def test_each_request_is_reported_with_its_status(
    data: bytes, method: str | None, path: str | None, status: int
) -> None:
    async with observed() as (port, seen, _):
        answer = await exchange(port, data)
        (entry,) = seen
        assert answer.startswith(b"HTTP/1.1 %d " % status)
        assert (entry.scope.get("method"), entry.scope.get("path"), entry.status) == (method, path, status)
        assert 0 <= entry.seconds < PATIENCE
        if method != "HEAD":
            assert entry.sent == len(answer.partition(b"\r\n\r\n")[2])


async def test_upgrade_to_websocket_is_reported_and_the_connection_is_counted() -> None:
    async with observed() as (port, seen, observation):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(UPGRADE)
        async with asyncio.timeout(PATIENCE):
            assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
        assert [(entry.scope["path"], entry.status) for entry in seen] == [("/mcp/ws", 101)]
        assert observation.connections == 1
        writer.close()


async def test_two_requests_of_one_connection_are_two_reports() -> None:
    first = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"
    async with observed() as (port, seen, _):
        await exchange(port, first + first.replace(b"host: x", b"host: x\r\nconnection: close"))
        assert [entry.status for entry in seen] == [200, 200]
