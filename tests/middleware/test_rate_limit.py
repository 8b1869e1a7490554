"""Rates per caller: refused requests, callers apart, bounded memory."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import RegistrationError, Scope, Server
from assay.middleware import RateLimit
from tests.driving.asgi import AsgiPeer
from tests.driving.messages import request
from tests.middleware.manual_clock import ManualClock
from tests.store.backend import Backend

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def limited(*args: Any, **options: Any) -> tuple[Server, ManualClock]:
    server, clock = Server("test"), ManualClock()
    server.use(RateLimit(*args, clock=clock, **options))
    return server, clock


async def outcome(server: Server, principal: Any = "ada", **scope: Any) -> Any:
    answer = json.loads(await server.handle(PING, scope=Scope(principal=principal, **scope)) or b"")
    return "ok" if "result" in answer else answer["error"]


async def is_served(server: Server, principal: Any = "ada", **scope: Any) -> bool:
    return await outcome(server, principal, **scope) == "ok"


async def test_requests_beyond_the_burst_are_refused_with_the_time_to_wait() -> None:
    server, clock = limited(2, per=10, burst=3)
    assert [await is_served(server) for _ in range(4)] == [True, True, True, False]
    assert await outcome(server) == {
        "code": -31004,
        "message": "rate limit exceeded: 2 in 10 s; try again later",
        "data": {"retryAfter": 5.0},
    }
    clock.advance(5)
    assert [await is_served(server) for _ in range(2)] == [True, False]


async def test_refused_requests_do_not_prolong_the_wait() -> None:
    server, clock = limited(1)
    assert await is_served(server)
    for _ in range(10):
        clock.advance(0.09)
        assert not await is_served(server)
    clock.advance(0.11)
    assert await is_served(server)


async def test_callers_have_their_own_buckets() -> None:
    server, _ = limited(1)
    callers: list[dict[str, Any]] = [
        {"principal": "ada"},
        {"principal": "bob"},
        {"principal": {"unhashable": 1}},
        {"principal": None, "client_address": lambda: "10.0.0.1"},
        {"principal": None, "client_address": lambda: "10.0.0.2"},
    ]
    assert [await is_served(server, **caller) for caller in callers] == [True] * 5
    assert [await is_served(server, **caller) for caller in callers] == [False] * 5


async def test_principal_counts_more_than_the_address() -> None:
    server, _ = limited(1)
    assert await is_served(server, "ada", client_address=lambda: "10.0.0.1")
    assert not await is_served(server, "ada", client_address=lambda: "10.0.0.2")


async def test_key_decides_who_is_a_caller() -> None:
    server, _ = limited(1, key=lambda call: call.method)
    assert await is_served(server, "ada")
    assert not await is_served(server, "bob")


async def test_memory_is_bounded_and_the_busiest_caller_is_not_forgotten() -> None:
    clock = ManualClock()
    limit = RateLimit(1, burst=2, callers=10, clock=clock)
    server = Server("test")
    server.use(limit)
    assert [await is_served(server, "busy") for _ in range(2)] == [True, True]
    for number in range(100):
        assert await is_served(server, f"caller {number}")
        assert not await is_served(server, "busy")
    assert len(limit._buckets) == 10


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 20),
    st.integers(1, 20),
    st.lists(st.tuples(st.floats(0, 3), st.integers(1, 12)), max_size=12),
)
async def test_no_caller_gets_more_than_burst_and_rate(
    rate: int, burst: int, rounds: list[tuple[float, int]]
) -> None:
    server, clock = limited(rate, burst=burst)
    begin, served = clock.now, 0
    for pause, requests in rounds:
        clock.advance(pause)
        answers = await asyncio.gather(*(is_served(server) for _ in range(requests)))
        served += sum(answers)
        assert served <= burst + rate * (clock.now - begin) + 1e-6


async def test_http_answers_503_with_the_time_to_wait() -> None:
    server, clock = limited(1, per=30)
    async with AsgiPeer(server.asgi()) as peer:
        assert (await peer.post(request("ping"))).status == 200
        clock.advance(7.5)
        refused = await peer.post(request("ping"))
    assert (refused.status, refused.headers["retry-after"]) == (503, "23")
    assert refused.json["error"]["code"] == -31004


@pytest.mark.parametrize("options", [{"requests": 0}, {"per": 0}, {"burst": 0}, {"callers": -1}])
def test_numbers_must_be_positive(options: dict[str, Any]) -> None:
    with pytest.raises(RegistrationError, match=f"{next(iter(options))} must be greater than 0"):
        RateLimit(**{"requests": 1, **options})


async def test_shared_rate_counts_the_requests_of_all_processes(backend: Backend) -> None:
    servers = []
    for _ in range(2):
        server = Server("test", store=backend.url)
        server.use(RateLimit(1, per=100, burst=3, shared=True))
        await server.start()
        servers.append(server)
    assert [await is_served(server) for server in servers * 2] == [True, True, True, False]
    assert await is_served(servers[1], "bob")
    for server in servers:
        await server.stop()


async def test_shared_rate_is_counted_here_while_the_store_is_away(backend: Backend) -> None:
    server = Server("test", store=backend.url)
    server.use(RateLimit(1, per=100, burst=1, shared=True))
    await server.start()
    assert server.store is not None
    await server.store.close()
    assert [await is_served(server) for _ in range(2)] == [True, False]
    await server.stop()


async def test_shared_rate_without_a_store_is_that_of_the_process() -> None:
    server, _ = limited(1, shared=True)
    assert [await is_served(server) for _ in range(2)] == [True, False]
