"""Bytes that connections hold before an application takes them, or after it has answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from assay.protocol.http.asgi import AsgiScope, Receive, Transmit
from assay.transport.http1.request_cycle import BUFFERED
from tests.transport.http1.memory_client import (
    MemoryClient,
    echo,
    echo_at_once,
    get,
    post,
    read_body,
    settle,
    whole_send,
)

BODY = b"x" * 2 * BUFFERED
LIMITS = {"message_bytes": 4 * BUFFERED, "inflight_bytes": 20 * BUFFERED}


def crowd(client: MemoryClient, clients: int = 19) -> int:
    """Other clients take most of the byte budget. Returns how much."""
    budget = client.server._budget
    assert all(budget.share(number).resize(BUFFERED) for number in range(clients))
    return budget.used


class Gate:
    """An application that waits before it serves."""

    def __init__(self, app: Callable[[AsgiScope, Receive, Transmit], Awaitable[None]]) -> None:
        self.open = asyncio.Event()
        self._app = app

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        await self.open.wait()
        await self._app(scope, receive, send)


@pytest.mark.parametrize("app", [echo, echo_at_once])
async def test_body_counts_until_the_application_takes_it(app: Any) -> None:
    gate = Gate(app)
    client = await MemoryClient(gate, **LIMITS).send(post(BODY))
    assert BUFFERED <= client.server._budget.used <= len(BODY)
    gate.open.set()
    await client.all_taken()
    assert (client.answer.body, client.server._budget.used) == (BODY, 0)
    await client.leave()


async def test_body_for_which_there_is_no_room_gets_503() -> None:
    gate = Gate(echo)
    client = MemoryClient(gate, **LIMITS)
    used = crowd(client)
    await client.send(post(BODY))
    gate.open.set()
    await settle()
    assert (client.answer.status, client.answer.headers[b"retry-after"]) == (503, b"1")
    assert b"too many bytes in flight" in client.answer.body
    assert client.server._budget.used == used
    await client.leave()


async def test_pipelined_requests_count_until_their_turn() -> None:
    gate = Gate(echo)
    client = await MemoryClient(gate, **LIMITS).send(get() + post(b"x" * 30_000) + get())
    assert client.server._budget.used > 30_000
    gate.open.set()
    await client.all_taken()
    assert [each.status for each in client.answers("GET", "POST", "GET")] == [200] * 3
    assert client.server._budget.used == 0
    await client.leave()


async def test_pipelined_request_for_which_there_is_no_room_gets_503_in_its_turn() -> None:
    gate = Gate(echo)
    client = MemoryClient(gate, **LIMITS)
    crowd(client)
    await client.send(get() + post(b"x" * 60_000))
    gate.open.set()
    await settle()
    assert [each.status for each in client.answers("GET", "POST")] == [200, 503]
    await client.leave()


def answering(body: bytes) -> Callable[[AsgiScope, Receive, Transmit], Awaitable[None]]:
    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        await read_body(receive)
        whole_send(send).respond(200, (), body)

    return app


async def test_unread_answer_counts_until_it_is_read() -> None:
    client = MemoryClient(answering(BODY), **LIMITS)
    client.wire.stop_reading()
    await client.send(get())
    assert client.server._budget.used >= len(BODY)
    client.wire.read()
    assert client.server._budget.used == 0
    await client.leave()


async def test_client_with_an_unread_answer_is_cut_off_when_there_is_no_room() -> None:
    client = MemoryClient(answering(BODY), **LIMITS)
    used = crowd(client)
    client.wire.stop_reading()
    await client.send(get())
    assert (client.wire.ended, client.server._budget.used) == ("abort", used)
    await client.leave()


async def test_client_that_reads_gets_its_answer_although_there_is_no_room() -> None:
    client = MemoryClient(answering(BODY), **LIMITS)
    crowd(client)
    await client.send(get())
    assert client.answers("GET")[0].body == BODY
    await client.leave()


@pytest.mark.parametrize("sent", [post(BODY)[:-1], get() + post(BODY)[:-1]], ids=["body", "pipelined"])
async def test_connection_that_is_lost_gives_its_bytes_back(sent: bytes) -> None:
    gate = Gate(echo)
    client = await MemoryClient(gate, **LIMITS).send(sent)
    assert client.server._budget.used > 0
    client.wire.hang_up()
    await settle()
    assert client.server._budget.used == 0
    gate.open.set()
    await client.leave()
