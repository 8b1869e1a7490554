"""Large bodies: each client has its share of the server's time for them."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest

from assay import Limits, Server
from assay.model.error import BUSY
from assay.protocol import time_share
from assay.protocol.http.head_policy import Refusal
from assay.protocol.time_share import BURST, TimeShares
from assay.transport.asgi import body_pace
from assay.transport.asgi.body_pace import SECONDS_PER_BYTE, BodyPace
from tests.driving.asgi import AsgiPeer
from tests.driving.messages import request
from tests.driving.websocket import AsgiSocket

SIZE = 1_000_000
COST = SIZE * SECONDS_PER_BYTE
LIMITS = Limits(body_share=0.25)


class Clock:
    time = 0.0

    def __call__(self) -> float:
        return self.time


async def test_time_that_decoding_took_counts() -> None:
    clock = Clock()
    shares = TimeShares(LIMITS, clock)
    pace = BodyPace(LIMITS, shares)

    async def read() -> bytes | Refusal:
        return b""

    await pace.read(read(), b"%d" % SIZE, lambda: "a")
    clock.time = 1.0  # as if the caller had decoded for a second
    charged = asyncio.Event()
    asyncio.get_running_loop().call_soon(charged.set)
    await charged.wait()
    assert shares.wait_for("a") == pytest.approx(3 * 1.0 - COST - BURST)


async def test_body_of_a_client_that_leaves_while_it_waits_is_closed() -> None:
    async def read() -> bytes | Refusal:
        return b""

    shares, reading = TimeShares(LIMITS, Clock()), read()
    shares.charge("a", 2 * BURST)  # so that it has to wait
    waiting = asyncio.ensure_future(BodyPace(LIMITS, shares).read(reading, b"%d" % SIZE, lambda: "a"))
    asyncio.get_running_loop().call_soon(waiting.cancel)
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert inspect.getcoroutinestate(reading) == inspect.CORO_CLOSED


def large_ping(number: int) -> list[bytes]:
    """In two parts, as it would arrive."""
    body = json.dumps(large_message(number)).encode()
    return [body[:50_000], body[50_000:]]


def large_message(number: int) -> dict[str, Any]:
    return request("ping", {"x": "x" * 100_000}, number)


def set_declared(body: list[bytes]) -> dict[str, str | None]:
    return {"content-length": str(sum(map(len, body)))}


def undeclared(body: list[bytes]) -> dict[str, str | None]:
    return {}


@pytest.mark.parametrize("headers_of", [set_declared, undeclared])
async def test_large_bodies_are_served(headers_of: Callable[[list[bytes]], dict[str, str | None]]) -> None:
    async with AsgiPeer(Server("test").asgi()) as client:
        for number in range(3):
            body = large_ping(number)
            answer = await client.post(body, headers=headers_of(body))
            assert answer.json == {"jsonrpc": "2.0", "id": number, "result": {}}


async def test_too_many_large_bodies_are_refused_as_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_share, "BURST", 0.0)
    monkeypatch.setattr(body_pace, "SECONDS_PER_BYTE", 1.0)
    async with AsgiPeer(Server("test").asgi()) as client:
        assert (await client.post(large_ping(1))).status == 200
        answer = await client.post(large_ping(2))
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert answer.json["error"]["code"] == BUSY
        assert (await client.post(request("ping"))).status == 200


async def test_share_of_one_disables_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_pace, "SECONDS_PER_BYTE", 1.0)
    async with AsgiPeer(Server("test", limits=Limits(body_share=1)).asgi()) as client:
        for number in range(3):
            assert (await client.post(large_ping(number))).status == 200


async def test_refusal_leaves_the_body_unread() -> None:
    limits = Limits(body_timeout=1)
    shares = TimeShares(limits, Clock())
    shares.charge("a", 100.0)
    pace = BodyPace(limits, shares)

    async def read() -> bytes | Refusal:
        raise AssertionError("read")

    assert isinstance(await pace.read(read(), b"1000000", lambda: "a"), Refusal)


async def test_large_websocket_messages_are_served_in_order() -> None:
    async with AsgiSocket(Server("test").asgi()) as client:
        for number in range(3):
            await client.send(large_message(number))
        assert [(await client.receive())["id"] for _ in range(3)] == [0, 1, 2]


async def test_too_many_large_websocket_messages_end_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_share, "BURST", 0.0)
    monkeypatch.setattr(body_pace, "SECONDS_PER_BYTE", 1.0)
    server = Server("test")
    async with AsgiSocket(server.asgi()) as client:
        await client.send(large_message(1))
        assert (await client.receive())["id"] == 1
        await client.send(large_message(2))
        closed = await client.closed()
    assert (closed.code, closed.reason) == (1013, "too many large messages; try again later")
    assert server.byte_budget.used == 0
