"""Connections of a client that has used its share continue one after the other, each at its time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Any

import pytest

from assay import Limits
from assay.protocol import time_share
from assay.protocol.time_share import TimeShares
from assay.transport.http1.turn_queue import MOST_WAITING, TurnQueues

SHARE = 0.25


class Timers:
    """The part of an event loop that a queue uses, with a clock that jumps to the next timer."""

    def __init__(self) -> None:
        self.time = 0.0
        self._timers: list[tuple[float, Callable[[Hashable], None], Hashable]] = []

    def call_later(self, delay: float, callback: Callable[[Hashable], None], client: Hashable) -> None:
        self._timers.append((self.time + delay, callback, client))

    def run(self) -> None:
        while self._timers:
            timer = min(self._timers, key=lambda each: each[0])
            self._timers.remove(timer)
            self.time = max(self.time, timer[0])
            timer[1](timer[2])


class Scene:
    def __init__(self, **limits: Any) -> None:
        self.timers = Timers()
        self.shares = TimeShares(Limits(body_share=SHARE, **limits), lambda: self.timers.time)
        self.turns = TurnQueues(self.shares, self.timers)  # type: ignore[arg-type]
        self.taken: list[tuple[str, float]] = []


class Waiter:
    """Uses the loop for so many seconds in each of its turns."""

    def __init__(self, scene: Scene, name: str, cost: float = 0.0, turns: int = 1, client: str = "a") -> None:
        self.scene, self.name, self.cost, self.turns, self.client = scene, name, cost, turns, client

    def join(self) -> bool:
        return self.scene.turns.join(self.client, self)

    def take_turn(self) -> None:
        self.scene.taken.append((self.name, round(self.scene.timers.time, 6)))
        self.scene.timers.time += self.cost
        self.scene.shares.charge(self.client, self.cost)
        self.turns -= 1
        if self.turns:
            self.join()


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setattr(time_share, "BURST", 0.0)
    return Scene()


def test_each_waits_for_what_was_handled_before_it(scene: Scene) -> None:
    scene.shares.charge("a", 1.0)
    for name in ("first", "second", "third"):
        assert Waiter(scene, name, cost=1.0).join()
    scene.timers.run()
    assert scene.taken == [("first", 3.0), ("second", 7.0), ("third", 11.0)]
    assert len(scene.turns) == 0


def test_connection_that_needs_more_turns_goes_behind_the_others(scene: Scene) -> None:
    scene.shares.charge("a", 1.0)
    for name in ("long", "short"):
        Waiter(scene, name, cost=1.0, turns=2 if name == "long" else 1).join()
    scene.timers.run()
    assert [name for name, _ in scene.taken] == ["long", "short", "long"]


def test_nothing_overtakes_what_waits(scene: Scene) -> None:
    scene.shares.charge("a", 1.0)
    Waiter(scene, "first").join()
    scene.timers.time = 10.0
    assert scene.shares.wait_for("a") == 0
    assert scene.turns.must_wait("a")


def test_another_client_does_not_wait(scene: Scene) -> None:
    scene.shares.charge("a", 1.0)
    Waiter(scene, "first").join()
    assert not scene.turns.must_wait("b")


def test_time_used_elsewhere_delays_the_queue(scene: Scene) -> None:
    scene.shares.charge("a", 1.0)
    Waiter(scene, "first").join()
    scene.shares.charge("a", 1.0)
    scene.timers.run()
    assert scene.taken == [("first", 7.0)]


def test_queue_is_bounded(scene: Scene) -> None:
    scene.shares.charge("a", 1.0)
    assert all(Waiter(scene, str(number)).join() for number in range(MOST_WAITING))
    assert not Waiter(scene, "too many").join()
    assert Waiter(scene, "of another client", client="b").join()


def test_client_that_would_wait_too_long_is_refused() -> None:
    scene = Scene(body_timeout=1)
    scene.shares.charge("a", 100.0)
    assert not Waiter(scene, "first").join()


def test_place_can_be_given_up(scene: Scene) -> None:
    scene.shares.charge("a", 1.0)
    first, second = Waiter(scene, "first"), Waiter(scene, "second")
    first.join()
    second.join()
    scene.turns.leave("a", first)
    scene.turns.leave("a", first)
    scene.timers.run()
    assert scene.taken == [("second", 3.0)]


async def test_real_timers_take_turns() -> None:
    scene = Scene()
    turns = TurnQueues(scene.shares, asyncio.get_running_loop())
    taken = asyncio.Event()

    class Once:
        def take_turn(self) -> None:
            taken.set()

    assert turns.join("a", Once())
    async with asyncio.timeout(5):
        await taken.wait()
