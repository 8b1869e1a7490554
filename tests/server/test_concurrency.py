"""Gates: how many run at once, who waits, who is sent away."""

from __future__ import annotations

import asyncio

import pytest

from assay import RpcError
from assay.model.error import INTERNAL_ERROR
from assay.server.concurrency import ConcurrencyLimit
from tests.server.scripted import GUARD, quiescence


async def line_up(limit: ConcurrencyLimit, names: str) -> tuple[list[asyncio.Task[None]], list[str]]:
    """Whoever gets in writes their name."""
    entered: list[str] = []

    async def visit(name: str) -> None:
        await limit.wait_and_acquire()
        entered.append(name)

    tasks = [asyncio.create_task(visit(name)) for name in names]
    await quiescence()
    return tasks, entered


async def test_gate_lets_in_as_many_as_it_has_places() -> None:
    limit = ConcurrencyLimit(2, backlog=9)
    tasks, entered = await line_up(limit, "abc")
    assert (entered, limit.available) == (["a", "b"], False)
    tasks[2].cancel()


async def test_line_keeps_its_order() -> None:
    limit = ConcurrencyLimit(1, backlog=9)
    _, entered = await line_up(limit, "abcd")
    for _ in range(3):
        limit.release()
    await quiescence()
    assert entered == ["a", "b", "c", "d"]


async def test_nobody_who_comes_later_takes_the_place_of_who_waits() -> None:
    limit = ConcurrencyLimit(1, backlog=9)
    _, entered = await line_up(limit, "ab")
    limit.release()
    assert limit.available is False
    await quiescence()
    assert entered == ["a", "b"]


async def test_gate_opens_when_everybody_has_left() -> None:
    limit = ConcurrencyLimit(1, backlog=9)
    await line_up(limit, "ab")
    limit.release()
    await quiescence()
    limit.release()
    assert limit.available is True


async def test_full_line_sends_away() -> None:
    limit = ConcurrencyLimit(1, backlog=1)
    tasks, _ = await line_up(limit, "ab")
    with pytest.raises(RpcError) as caught:
        await limit.wait_and_acquire()
    assert (caught.value.code, caught.value.message) == (
        INTERNAL_ERROR,
        "server is busy: 1 running, 1 waiting",
    )
    tasks[1].cancel()


async def test_whoever_gives_up_leaves_the_line() -> None:
    limit = ConcurrencyLimit(1, backlog=1)
    tasks, _ = await line_up(limit, "ab")
    tasks[1].cancel()
    await quiescence()
    waiting = asyncio.create_task(limit.wait_and_acquire())
    await quiescence()
    assert waiting.done() is False
    limit.release()
    async with asyncio.timeout(GUARD):
        await waiting


@pytest.mark.parametrize("leave_first", [True, False])
async def test_place_given_to_whoever_gives_up_goes_to_the_next(leave_first: bool) -> None:
    limit = ConcurrencyLimit(1, backlog=9)
    tasks, entered = await line_up(limit, "abc")
    steps = [limit.release, tasks[1].cancel]
    for step in steps if leave_first else reversed(steps):
        step()
    await quiescence()
    assert entered == ["a", "c"]
