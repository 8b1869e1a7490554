"""The byte budget: what is counted, and how clients share it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay import Limits
from assay.protocol.byte_budget import FREE_BYTES, ByteBudget

LIMIT = 100 * FREE_BYTES
UNIT = 2 * FREE_BYTES


def fill(budget: ByteBudget, client: str) -> int:
    """How many units a client can take."""
    count = 0
    while budget.share(client).resize(UNIT):
        count += 1
    return count


def test_small_messages_are_not_counted() -> None:
    budget = ByteBudget(LIMIT)
    assert all(budget.share("a").resize(FREE_BYTES) for _ in range(1000))
    assert budget.used == 0


def test_one_client_gets_a_half_and_leaves_the_rest_to_others() -> None:
    budget = ByteBudget(LIMIT)
    assert fill(budget, "a") * UNIT == LIMIT // 2
    assert fill(budget, "b") * UNIT >= LIMIT // 5
    assert not budget.share("a").resize(UNIT)
    assert budget.share("c").resize(UNIT)


def test_clients_that_come_together_get_equal_shares() -> None:
    budget = ByteBudget(LIMIT)
    held = dict.fromkeys("abcd", 0)
    for _ in range(LIMIT // UNIT):
        for client in held:
            held[client] += budget.share(client).resize(UNIT)
    assert max(held.values()) - min(held.values()) <= 1
    assert sum(held.values()) * UNIT >= LIMIT * 3 // 4


def test_share_that_is_refused_stays_as_it_was() -> None:
    budget = ByteBudget(LIMIT)
    share = budget.share("a")
    assert share.resize(UNIT)
    assert not share.resize(LIMIT)
    assert (share.size, budget.used) == (UNIT, UNIT)
    share.release()
    share.release()
    assert (share.size, budget.used) == (0, 0)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, LIMIT))))
def test_use_never_exceeds_the_limit_and_returns_to_zero(steps: list[tuple[int, int]]) -> None:
    budget = ByteBudget(LIMIT)
    shares = [budget.share(number % 3) for number in range(10)]
    for number, size in steps:
        shares[number].resize(size)
        assert budget.used == sum(share.size for share in shares) <= LIMIT
    for share in shares:
        share.release()
    assert (budget.used, budget._clients) == (0, {})


def test_largest_message_always_fits_an_idle_server() -> None:
    limits = Limits(message_bytes=1_000_000, inflight_bytes=1)
    assert ByteBudget.of(limits).share("a").resize(limits.message_bytes)
