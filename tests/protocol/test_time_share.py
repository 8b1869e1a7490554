"""The event loop's time: each client has its share for large input."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from assay import Limits
from assay.protocol.time_share import BURST, MOST_CLIENTS, TimeShares

LIMITS = Limits(body_share=0.25)
COST = 0.004


class Clock:
    time = 0.0

    def __call__(self) -> float:
        return self.time


def waits(shares: TimeShares, client: Hashable, count: int) -> list[float | None]:
    """Charge a client that often, all at the same time."""
    collected = []
    for _ in range(count):
        collected.append(shares.wait_for(client))
        shares.charge(client, COST)
    return collected


def test_use_beyond_the_burst_waits_for_its_share() -> None:
    remitted = int((BURST + COST) / (4 * COST)) + 1
    *first, second_last, last = waits(TimeShares(LIMITS, Clock()), "a", remitted + 2)
    assert set(first) == {0.0}
    assert second_last is not None and last is not None
    assert last - second_last == pytest.approx(4 * COST)


def test_client_that_waits_whenever_it_has_to_uses_its_share() -> None:
    clock = Clock()
    shares = TimeShares(LIMITS, clock)
    for _ in range(1000):
        clock.time += shares.wait_for("a") or 0.0
        clock.time += COST
        shares.charge("a", COST)
    assert 1000 * COST / clock.time == pytest.approx(0.25, rel=0.02)


def test_clients_have_shares_of_their_own() -> None:
    shares = TimeShares(LIMITS, Clock())
    assert waits(shares, "a", 100)[-1]
    assert waits(shares, "b", 1) == [0.0]


def test_use_is_made_up_for_in_time() -> None:
    clock = Clock()
    shares = TimeShares(LIMITS, clock)
    waits(shares, "a", 100)
    clock.time = 100 * 4 * COST
    assert waits(shares, "a", 1) == [0.0]


def test_wait_is_bounded() -> None:
    assert waits(TimeShares(Limits(body_timeout=1), Clock()), "a", 1000)[-1] is None


def test_share_of_one_is_never_used_up() -> None:
    assert set(waits(TimeShares(Limits(body_share=1), Clock()), "a", 1000)) == {0.0}


def test_clients_that_need_not_wait_are_forgotten() -> None:
    clock = Clock()
    shares = TimeShares(LIMITS, clock)
    for number in range(MOST_CLIENTS):
        shares.charge(number, COST)
    clock.time = 1000
    shares.charge("late", COST)
    assert len(shares) == 1


def test_many_clients_that_have_to_wait_are_not_forgotten() -> None:
    shares = TimeShares(LIMITS, Clock())
    for number in range(2 * MOST_CLIENTS):
        shares.charge(number, 1.0)
    assert len(shares) == 2 * MOST_CLIENTS
