"""Large bodies: each client has its share of the server's time for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from typing import Any

import pytest

from assay import Limits, Server
from assay.model.error import BUSY
from assay.protocol.http.head_policy import Refusal
from assay.transport.asgi import body_pace
from assay.transport.asgi.body_pace import BURST, MOST_CLIENTS, SECONDS_PER_BYTE, BodyPace
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


def waits(pace: BodyPace, client: Hashable, count: int) -> list[float | None]:
    return [pace.reserve(client, SIZE) for _ in range(count)]


def test_bodies_beyond_the_burst_wait_for_their_share() -> None:
    unpaid = int(BURST / (3 * COST)) + 1
    *first, second_last, last = waits(BodyPace(LIMITS, Clock()), "a", unpaid + 2)
    assert set(first) == {0.0}
    assert second_last is not None and last is not None
    assert last - second_last == pytest.approx(3 * COST)


def test_clients_have_shares_of_their_own() -> None:
    pace = BodyPace(LIMITS, Clock())
    assert waits(pace, "a", 100)[-1]
    assert waits(pace, "b", 1) == [0.0]


def test_time_that_decoding_took_counts() -> None:
    clock = Clock()
    pace = BodyPace(LIMITS, clock)
    assert waits(pace, "a", 1) == [0.0]
    clock.time = 1.0
    pace.charge("a", SIZE, began=0.0)
    assert waits(pace, "a", 1) == [pytest.approx(3 * (1.0 - COST) - BURST)]


def test_use_is_made_up_for_in_time() -> None:
    clock = Clock()
    pace = BodyPace(LIMITS, clock)
    waits(pace, "a", 100)
    clock.time = 100 * 3 * COST
    assert waits(pace, "a", 1) == [0.0]


def test_wait_is_bounded() -> None:
    assert waits(BodyPace(Limits(body_timeout=1), Clock()), "a", 1000)[-1] is None


def test_clients_that_need_not_wait_are_forgotten() -> None:
    clock = Clock()
    pace = BodyPace(LIMITS, clock)
    for number in range(MOST_CLIENTS):
        pace.reserve(number, SIZE)
    clock.time = 1000
    pace.reserve("late", SIZE)
    assert len(pace._free_at) == 1


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
    monkeypatch.setattr(body_pace, "BURST", 0.0)
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
    pace = BodyPace(Limits(body_timeout=1), Clock())
    waits(pace, "a", 1000)

    async def read() -> bytes | Refusal:
        raise AssertionError("read")

    assert isinstance(await pace.read(read(), b"1000000", lambda: "a"), Refusal)


async def test_large_websocket_messages_are_served_in_order() -> None:
    async with AsgiSocket(Server("test").asgi()) as client:
        for number in range(3):
            await client.send(large_message(number))
        assert [(await client.receive())["id"] for _ in range(3)] == [0, 1, 2]


async def test_too_many_large_websocket_messages_end_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_pace, "BURST", 0.0)
    monkeypatch.setattr(body_pace, "SECONDS_PER_BYTE", 1.0)
    server = Server("test")
    async with AsgiSocket(server.asgi()) as client:
        await client.send(large_message(1))
        assert (await client.receive())["id"] == 1
        await client.send(large_message(2))
        closed = await client.closed()
    assert (closed.code, closed.reason) == (1013, "too many large messages; try again later")
    assert server.byte_budget.used == 0
