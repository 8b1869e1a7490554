"""Timeouts of calls: one timer for all, and cancellations of others stay theirs."""

from __future__ import annotations

import asyncio

import pytest

from assay import Client, Server, Timeout
from assay.client.deadline import Deadlines

server = Server("slow")


@server.tool
async def wait(swallow: bool = False) -> str:
    """Wait until cancelled."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        if not swallow:
            raise
    return "went on"


@server.tool
async def quick() -> str:
    """Answer at once."""
    return "quick"


async def test_the_shortest_timeout_ends_first_whatever_began_first() -> None:
    ended: list[float] = []

    async def call(client: Client, timeout: float) -> None:
        with pytest.raises(Timeout, match=f"no answer to tools/call in {timeout:g} s"):
            await client.call_tool("wait", timeout=timeout)
        ended.append(timeout)

    async with Client(server) as client:
        await asyncio.gather(*(call(client, timeout) for timeout in (0.8, 0.02, 0.4, 0.0)))
        assert ended == [0.0, 0.02, 0.4, 0.8]
        assert (await client.call("quick")).text == "quick"


async def test_a_timeout_of_the_caller_is_not_one_of_the_client() -> None:
    async with Client(server) as client:
        with pytest.raises(TimeoutError) as caught:
            async with asyncio.timeout(0.02):
                await client.call_tool("wait", timeout=30)
        assert not isinstance(caught.value, Timeout)


async def test_a_cancelled_task_is_cancelled_even_if_its_deadline_passes() -> None:
    async with Client(server) as client:
        task = asyncio.create_task(client.call_tool("wait", timeout=0.0))
        asyncio.get_running_loop().call_soon(task.cancel)  # after the task has begun
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_handler_that_ignores_the_end_leaves_the_task_usable() -> None:
    async with Client(server) as client:
        assert (await client.call_tool("wait", {"swallow": True}, timeout=0.02)).text == "went on"
        task = asyncio.current_task()
        assert task is not None and task.cancelling() == 0


async def test_calls_with_the_same_timeout_share_a_timer() -> None:
    deadlines, loop = Deadlines(), asyncio.get_running_loop()
    scheduled = loop._scheduled  # type: ignore[attr-defined]
    before = len(scheduled)
    first, second = deadlines.start(60), deadlines.start(60)
    assert len(scheduled) == before + 1
    deadlines.end(first)
    deadlines.end(second)
    deadlines.close()
    assert all(handle.cancelled() for handle in scheduled[before:])
