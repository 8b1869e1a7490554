"""Gates: how many run at once, who waits, who is sent away."""

from __future__ import annotations

import asyncio

import pytest

from assay import RpcError
from assay.model.error import INTERNAL_ERROR
from assay.server.gate import Gate
from tests.server.scripted import GUARD, quiescence


async def line_up(gate: Gate, names: str) -> tuple[list[asyncio.Task[None]], list[str]]:
    """Whoever gets in writes their name."""
    entered: list[str] = []

    async def visit(name: str) -> None:
        await gate.wait_and_enter()
        entered.append(name)

    tasks = [asyncio.create_task(visit(name)) for name in names]
    await quiescence()
    return tasks, entered


async def test_gate_lets_in_as_many_as_it_has_places() -> None:
    gate = Gate(2, backlog=9)
    tasks, entered = await line_up(gate, "abc")
    assert (entered, gate.is_open) == (["a", "b"], False)
    tasks[2].cancel()


async def test_line_keeps_its_order() -> None:
    gate = Gate(1, backlog=9)
    _, entered = await line_up(gate, "abcd")
    for _ in range(3):
        gate.leave()
    await quiescence()
    assert entered == ["a", "b", "c", "d"]


async def test_nobody_who_comes_later_takes_the_place_of_who_waits() -> None:
    gate = Gate(1, backlog=9)
    _, entered = await line_up(gate, "ab")
    gate.leave()
    assert gate.is_open is False
    await quiescence()
    assert entered == ["a", "b"]


async def test_gate_opens_when_everybody_has_left() -> None:
    gate = Gate(1, backlog=9)
    await line_up(gate, "ab")
    gate.leave()
    await quiescence()
    gate.leave()
    assert gate.is_open is True


async def test_full_line_sends_away() -> None:
    gate = Gate(1, backlog=1)
    tasks, _ = await line_up(gate, "ab")
    with pytest.raises(RpcError) as caught:
        await gate.wait_and_enter()
    assert (caught.value.code, caught.value.message) == (
        INTERNAL_ERROR,
        "server is busy: 1 running, 1 waiting",
    )
    tasks[1].cancel()


async def test_whoever_gives_up_leaves_the_line() -> None:
    gate = Gate(1, backlog=1)
    tasks, _ = await line_up(gate, "ab")
    tasks[1].cancel()
    await quiescence()
    waiting = asyncio.create_task(gate.wait_and_enter())
    await quiescence()
    assert waiting.done() is False
    gate.leave()
    async with asyncio.timeout(GUARD):
        await waiting


@pytest.mark.parametrize("leave_first", [True, False])
async def test_place_given_to_whoever_gives_up_goes_to_the_next(leave_first: bool) -> None:
    gate = Gate(1, backlog=9)
    tasks, entered = await line_up(gate, "abc")
    steps = [gate.leave, tasks[1].cancel]
    for step in steps if leave_first else reversed(steps):
        step()
    await quiescence()
    assert entered == ["a", "c"]
