"""Clients that close their sending side after a request, and read on."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from assay.protocol.http.asgi import AsgiScope, Receive, Transmit
from assay.revisions.registry import HANDSHAKE
from tests.driving.answer import PATIENCE
from tests.driving.describing import describe, mirrors
from tests.driving.hosts import on_assay
from tests.driving.messages import request
from tests.transport.http1.memory_client import (
    MemoryClient,
    echo,
    get,
    length,
    part,
    post,
    settle,
    start,
)
from tests.transport.subject import Subject

QUICKLY = 0.001


class Door:
    """An application that answers when the test opens it."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        await self.opened.wait()
        await send(start(200, length(4)))
        await send(part(b"done"))


async def test_request_in_progress_is_answered_and_the_connection_closed() -> None:
    door = Door()
    client = await MemoryClient(door).send(get())
    client.wire.half_close()
    await settle()
    assert not client.wire.ended
    door.opened.set()
    await settle()
    assert (client.answer.body, client.answer.headers[b"connection"]) == (b"done", b"close")
    assert client.wire.ended == "close"
    await client.leave()


async def test_pipelined_requests_are_all_answered() -> None:
    door = Door()
    client = await MemoryClient(door).send(get(), get())
    client.wire.half_close()
    door.opened.set()
    await settle()
    assert [each.body for each in client.answers("GET", "GET")] == [b"done", b"done"]
    assert client.wire.ended == "close"
    await client.leave()


@pytest.mark.parametrize("sent", [b"", get()[:-1], post(b"12345")[:-1]], ids=["nothing", "head", "body"])
async def test_connection_without_a_whole_request_is_closed_at_once(sent: bytes) -> None:
    client = await MemoryClient(echo).send(sent)
    client.wire.half_close()
    assert client.wire.ended == "close"
    await client.leave()


async def test_connection_with_tls_is_closed_at_once() -> None:
    """TLS has no half-closed state in asyncio."""
    client = MemoryClient(Door(), half_closes=False)
    await client.send(get())
    client.wire.half_close()
    assert client.wire.ended == "close"
    await client.leave()


async def test_application_that_watches_for_it_learns_that_the_client_has_hung_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assay.transport.http1.connection.HANG_UP", QUICKLY)
    messages: list[Any] = []
    departed = asyncio.Event()

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        messages.extend([await receive(), await receive()])
        departed.set()

    client = await MemoryClient(app).send(get())
    client.wire.half_close()
    async with asyncio.timeout(PATIENCE):
        await departed.wait()
    assert messages[1] == {"type": "http.disconnect"}
    await client.leave()


async def test_time_to_answer_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.transport.http1.connection.HANG_UP", QUICKLY)
    door = Door()
    client = await MemoryClient(door).send(get())
    client.wire.half_close()
    client.time += 11
    async with asyncio.timeout(PATIENCE):
        while not client.wire.ended:
            await settle()
    assert client.wire.ended == "close"
    door.opened.set()
    await client.leave()


DESCRIBED = describe("tools/list")


@pytest.mark.parametrize(
    ("message", "headers"),
    [(request("tools/list"), {"mcp-protocol-version": HANDSHAKE[-1].date}), (DESCRIBED, mirrors(DESCRIBED))],
    ids=["handshake", "described"],
)
async def test_answer_arrives_over_a_real_socket(message: Any, headers: dict[str, str]) -> None:
    body = json.dumps(message).encode()
    lines = [b"content-type: application/json", b"accept: application/json, text/event-stream"]
    lines += [f"{name}: {value}".encode() for name, value in headers.items()]
    async with on_assay(Subject().server.asgi()) as port, asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("localhost", port)
        writer.write(post(body, *lines, target=b"/mcp"))
        writer.write_eof()
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 200 ") and b'"tools":[' in answer
        writer.close()
        await writer.wait_closed()
