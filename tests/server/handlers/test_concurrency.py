"""Concurrency limits: how many run at once, how many wait, and when requests are refused."""

from __future__ import annotations

import asyncio

import pytest

from assay import RpcError
from assay.model.error import BUSY, Busy
from assay.server.handlers.concurrency import ConcurrencyLimit
from tests.server.scripted import GUARD, quiescence


async def queue_up(limit: ConcurrencyLimit, names: str) -> tuple[list[asyncio.Task[None]], list[str]]:
    """Start one task per name; each records its name when it has acquired the limit. The name is the client,
    too."""
    acquired: list[str] = []

    async def acquire(name: str) -> None:
        await limit.wait_and_acquire(name)
        acquired.append(name)

    tasks = [asyncio.create_task(acquire(name)) for name in names]
    await quiescence()
    return tasks, acquired


async def test_limit_is_not_exceeded() -> None:
    limit = ConcurrencyLimit(2, backlog=9)
    tasks, acquired = await queue_up(limit, "abc")
    assert (acquired, limit.available) == (["a", "b"], False)
    tasks[2].cancel()


async def test_queue_is_first_in_first_out() -> None:
    limit = ConcurrencyLimit(1, backlog=9)
    _, acquired = await queue_up(limit, "abcd")
    for _ in range(3):
        limit.release()
    await quiescence()
    assert acquired == ["a", "b", "c", "d"]


async def test_later_arrival_does_not_overtake_the_queue() -> None:
    limit = ConcurrencyLimit(1, backlog=9)
    _, acquired = await queue_up(limit, "ab")
    limit.release()
    assert limit.available is False
    await quiescence()
    assert acquired == ["a", "b"]


async def test_limit_is_available_again_when_all_are_released() -> None:
    limit = ConcurrencyLimit(1, backlog=9)
    await queue_up(limit, "ab")
    limit.release()
    await quiescence()
    limit.release()
    assert limit.available is True


async def test_full_queue_refuses() -> None:
    limit = ConcurrencyLimit(1, backlog=1)
    tasks, _ = await queue_up(limit, "ab")
    with pytest.raises(RpcError) as caught:
        await limit.wait_and_acquire("c")
    assert (caught.value.code, caught.value.message) == (
        BUSY,
        "server is busy: 1 running, 1 waiting; try again later",
    )
    tasks[1].cancel()


async def test_cancelled_waiter_leaves_the_queue() -> None:
    limit = ConcurrencyLimit(1, backlog=1)
    tasks, _ = await queue_up(limit, "ab")
    tasks[1].cancel()
    await quiescence()
    waiting = asyncio.create_task(limit.wait_and_acquire("c"))
    await quiescence()
    assert waiting.done() is False
    limit.release()
    async with asyncio.timeout(GUARD):
        await waiting


@pytest.mark.parametrize("leave_first", [True, False])
async def test_slot_of_a_cancelled_waiter_goes_to_the_next(leave_first: bool) -> None:
    limit = ConcurrencyLimit(1, backlog=9)
    tasks, acquired = await queue_up(limit, "abc")
    steps = [limit.release, tasks[1].cancel]
    for step in steps if leave_first else reversed(steps):
        step()
    await quiescence()
    assert acquired == ["a", "c"]


async def test_clients_take_turns() -> None:
    limit = ConcurrencyLimit(1, backlog=9)
    _, acquired = await queue_up(limit, "aaaab")
    limit.release()
    limit.release()
    await quiescence()
    assert acquired == ["a", "a", "b"]


async def test_full_queue_refuses_the_last_call_of_the_client_with_the_most() -> None:
    limit = ConcurrencyLimit(1, backlog=3)
    tasks, acquired = await queue_up(limit, "aaaabb")
    assert [task.done() for task in tasks] == [True, False, False, True, False, True]
    assert [isinstance(task.exception(), Busy) for task in (tasks[3], tasks[5])] == [True, True]
    for _ in range(3):
        limit.release()
    await quiescence()
    assert acquired == ["a", "a", "b", "a"]


async def test_client_with_many_slow_calls_leaves_slots_to_others() -> None:
    limit = ConcurrencyLimit(32, backlog=99)
    _, acquired = await queue_up(limit, "a" * 40)
    assert acquired == ["a"] * 29
    _, others = await queue_up(limit, "bcdd")
    assert others == ["b", "c", "d"]


async def test_reserved_slot_is_free_again_when_it_is_released() -> None:
    limit, slots = ConcurrencyLimit(8, backlog=9), []
    for _ in range(7):
        slots.append(await limit.wait_and_acquire("a"))
    reserved = await limit.wait_and_acquire("b")
    waiting = asyncio.create_task(limit.wait_and_acquire("b"))
    await quiescence()
    assert (limit.available, waiting.done()) == (False, False)
    reserved.release()
    async with asyncio.timeout(GUARD):
        slots.append(await waiting)
    for slot in slots:
        slot.release()
    assert (limit.available, limit._running, limit._in_reserve) == (True, 0, {})
