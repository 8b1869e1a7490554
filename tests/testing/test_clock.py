"""The manual clock: as a function, and as the time of an event loop."""

import asyncio

import pytest
import uvloop

from assay import Client, Server, ServerError, Timeout
from assay.middleware import RateLimit
from assay.testing import ManualClock


def test_time_moves_when_it_is_advanced() -> None:
    clock = ManualClock(start=100)
    clock.advance(2.5)
    assert clock() == 102.5
    for seconds in (-1, float("nan")):
        with pytest.raises(ValueError, match="time only goes forward"):
            clock.advance(seconds)


async def test_an_hour_of_the_loop_passes_at_once() -> None:
    clock = ManualClock()
    waiting = asyncio.create_task(asyncio.wait_for(asyncio.Event().wait(), 3600))
    await clock.sleep(3599)
    assert not waiting.done()
    await clock.sleep(1)
    with pytest.raises(TimeoutError):
        await waiting


async def test_two_clocks_of_one_loop_add_up() -> None:
    before = asyncio.get_running_loop().time()
    for _ in range(2):
        clock = ManualClock()
        clock.attach()
        clock.attach()
        clock.advance(1000)
    assert 2000 <= asyncio.get_running_loop().time() - before < 2100


async def test_the_timeout_of_a_client_ends_without_waiting() -> None:
    server, clock = Server("slow"), ManualClock()

    @server.tool
    async def slow() -> str:
        await asyncio.Event().wait()
        return ""

    async with server, Client(server, timeout=60) as client:
        call = asyncio.create_task(client.call("slow"))
        await clock.sleep(61)
        with pytest.raises(Timeout):
            await call


async def test_a_rate_limit_takes_the_clock() -> None:
    clock = ManualClock()
    server = Server("limited")
    server.use(RateLimit(1, per=60, clock=clock, key=lambda call: call.method))

    @server.tool
    async def work() -> str:
        return "done"

    async with server, Client(server) as client:
        await client.call("work")
        with pytest.raises(ServerError, match="rate"):
            await client.call("work")
        clock.advance(60)
        await client.call("work")


def test_a_closed_loop_is_left_alone() -> None:
    clock = ManualClock()
    loop = asyncio.new_event_loop()
    clock.attach(loop)
    loop.close()
    clock.advance(1)


def test_a_loop_whose_time_cannot_be_moved_is_named() -> None:
    loop = uvloop.new_event_loop()
    try:
        with pytest.raises(
            RuntimeError, match="cannot move the time of a uvloop loop: use asyncio's own loop"
        ):
            ManualClock().attach(loop)
    finally:
        loop.close()
