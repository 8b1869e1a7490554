"""Limits of the in-memory stores: time, number of events, and bytes."""

from __future__ import annotations

import pytest

from assay.store.memory import EVENT_OVERHEAD, MemoryEvents, MemorySessions
from tests.store.stores import ManualClock
from tests.store.test_contract import record


async def test_session_at_the_very_end_of_its_time_is_still_there() -> None:
    clock = ManualClock()
    store = MemorySessions(idle_timeout=60, clock=clock)
    await store.save(record("a"))
    clock.now += 60
    assert await store.evict() == []
    assert await store.load("a") is not None


async def test_stream_keeps_its_latest_events() -> None:
    store = MemoryEvents(events_per_stream=3)
    for number in range(1, 6):
        assert await store.append("s", "a", b"%d" % number) == number
    assert [event.number for event in await store.after("s", "a", 2) or []] == [3, 4, 5]
    assert await store.after("s", "a", 1) is None


async def test_numbers_are_never_used_again_when_bytes_run_out() -> None:
    """HTTP-32: an event id is unique within its session."""
    store = MemoryEvents(bytes_per_session=10)
    assert [await store.append("s", "a", b"x") for _ in range(3)] == [1, 2, 3]
    await store.append("s", "b", b"x" * 10)
    assert await store.append("s", "a", b"x") == 4


async def test_dropped_stream_gives_its_bytes_back() -> None:
    store = MemoryEvents(bytes_per_session=10)
    await store.append("s", "a", b"x" * 6)
    await store.drop("s", "a")
    await store.append("s", "b", b"x" * 8)
    assert [event.number for event in await store.after("s", "b", 0) or []] == [1]


async def test_session_keeps_so_many_bytes_and_the_latest_of_them() -> None:
    store = MemoryEvents(bytes_per_session=100)
    for _ in range(3):
        await store.append("s", "a", b"x" * 40)
    assert await store.after("s", "a", 0) is None
    assert [event.number for event in await store.after("s", "a", 1) or []] == [2, 3]
    await store.append("t", "a", b"x" * 90)
    assert await store.after("s", "a", 1) is not None


@pytest.mark.parametrize("size", [101, 5000])
async def test_event_larger_than_the_bound_is_not_kept(size: int) -> None:
    store = MemoryEvents(bytes_per_session=100)
    assert await store.append("s", "a", b"x" * size) == 1
    assert await store.after("s", "a", 0) is None
    assert await store.append("s", "a", b"y") == 2
    assert [event.data for event in await store.after("s", "a", 1) or []] == [b"y"]


async def test_forgetting_sessions_frees_them() -> None:
    store = MemoryEvents()
    for number in range(10):
        await store.append(str(number), "a", b"x")
    for number in range(10):
        await store.forget(str(number))
    assert len(store) == 0


async def test_of_all_sessions_the_one_with_the_most_loses_its_oldest_events() -> None:
    store = MemoryEvents(total_bytes=10 * (1000 + EVENT_OVERHEAD))
    await store.append("small", "a", b"x" * 1000)
    for _ in range(9):
        await store.append("large", "a", b"x" * 1000)
    assert len(await store.after("large", "a", 0) or []) == 9
    await store.append("other", "a", b"x" * 1000)
    assert await store.after("large", "a", 0) is None
    assert [event.number for event in await store.after("large", "a", 5) or []] == [6, 7, 8, 9]
    assert await store.after("small", "a", 0) is not None
    assert await store.after("other", "a", 0) is not None


async def test_small_events_of_many_sessions_are_bounded_together() -> None:
    store = MemoryEvents(total_bytes=100_000)
    for number in range(3000):
        await store.append(str(number % 300), "a", b"x")
    stored = [await store.after(str(number), "a", 9) for number in range(300)]
    assert sum(len(events or []) for events in stored) <= 100_000 // (EVENT_OVERHEAD + 1)


async def test_dropped_and_forgotten_events_free_the_total() -> None:
    store = MemoryEvents(total_bytes=10 * (100 + EVENT_OVERHEAD))
    for number in range(100):
        await store.append(f"{number}", "a", b"x" * 100)
        await store.append(f"{number}", "b", b"x" * 100)
        await store.drop(f"{number}", "a")
        await store.forget(f"{number}")
    for number in range(10):
        await store.append(f"{number}", "a", b"x" * 100)
    assert [len(await store.after(f"{number}", "a", 0) or []) for number in range(10)] == [1] * 10


async def test_empty_events_are_bounded_too() -> None:
    """Regression: the store looped for ever over sessions whose messages had no bytes."""
    store = MemoryEvents(events_per_stream=10**6, total_bytes=10 * EVENT_OVERHEAD)
    for _ in range(100):
        await store.append("s", "a", b"")
    assert 5 <= len(await store.after("s", "a", 95) or []) <= 10
