"""The contract of all stores. Add a new store to the two tables below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.model.definition import ClientCapabilities, Implementation
from assay.model.session import SessionRecord
from assay.revisions.registry import HANDSHAKE
from assay.store.memory import MemoryEvents, MemorySessions
from assay.store.port import Event, EventStore, SessionStore


class ManualClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


MakeSessions = Callable[[ManualClock, float], SessionStore]
SESSIONS: dict[str, MakeSessions] = {
    "memory": lambda clock, idle_timeout: MemorySessions(clock=clock, idle_timeout=idle_timeout)
}
EVENTS: dict[str, Callable[[], EventStore]] = {"memory": MemoryEvents}

each_session_store = pytest.mark.parametrize("make", SESSIONS.values(), ids=SESSIONS.keys())
each_event_store = pytest.mark.parametrize("make", EVENTS.values(), ids=EVENTS.keys())


def record(session_id: str = "s", **changed: Any) -> SessionRecord:
    fields = {
        "revision": HANDSHAKE[-1].date,
        "capabilities": ClientCapabilities(sampling={"tools": {}}),
        "client": Implementation("client", "1.0"),
        "log_level": "error",
        "subscriptions": ["test://a", "test://b"],
        "state": "ready",
        "principal": "ada",
        **changed,
    }
    return SessionRecord(id=session_id, **fields)


@each_session_store
async def test_session_comes_back_as_it_was_saved(make: MakeSessions) -> None:
    store = make(ManualClock(), 60)
    await store.save(record())
    assert await store.load("s") == record()
    await store.save(record(log_level="debug", subscriptions=[]))
    assert await store.load("s") == record(log_level="debug", subscriptions=[])


@each_session_store
async def test_unknown_session_is_none(make: MakeSessions) -> None:
    store = make(ManualClock(), 60)
    await store.save(record())
    assert await store.load("other") is None
    assert await store.delete("other") is False


@each_session_store
async def test_deleted_session_is_gone(make: MakeSessions) -> None:
    store = make(ManualClock(), 60)
    await store.save(record("one"))
    await store.save(record("two"))
    assert await store.delete("one") is True
    assert await store.delete("one") is False
    assert await store.load("one") is None
    assert await store.load("two") == record("two")


@each_session_store
async def test_session_that_is_not_used_expires(make: MakeSessions) -> None:
    clock = ManualClock()
    store = make(clock, 60)
    await store.save(record("used"))
    await store.save(record("unused"))
    clock.now += 59
    await store.touch("used")
    clock.now += 2
    assert await store.load("used") is not None
    assert await store.load("unused") is None
    assert await store.evict() == ["unused"]
    assert await store.evict() == []
    clock.now += 61
    assert await store.evict() == ["used"]


@each_session_store
async def test_store_evicts_only_what_has_expired(make: MakeSessions) -> None:
    """Which sessions end when there are too many depends on their clients, which a store does not know."""
    store = make(ManualClock(), 60)
    for number in range(20_000):
        await store.save(record(str(number)))
    assert await store.evict() == []
    assert await store.load("0") == record("0")


@each_session_store
async def test_asking_for_a_session_is_no_use_of_it(make: MakeSessions) -> None:
    clock = ManualClock()
    store = make(clock, 60)
    await store.save(record())
    clock.now += 59
    assert await store.load("s") is not None
    clock.now += 2
    assert await store.load("s") is None


@each_session_store
async def test_expired_session_stays_expired(make: MakeSessions) -> None:
    clock = ManualClock()
    store = make(clock, 60)
    await store.save(record())
    clock.now += 61
    assert await store.load("s") is None
    await store.touch("s")
    await store.touch("unknown")
    assert await store.load("s") is None
    assert await store.evict() == ["s"]


@each_event_store
async def test_events_are_numbered_from_one_within_their_stream(make: Callable[[], EventStore]) -> None:
    store = make()
    assert [await store.append("s", "a", b"x") for _ in range(3)] == [1, 2, 3]
    assert await store.append("s", "b", b"y") == 1
    assert await store.append("t", "a", b"z") == 1


@each_event_store
async def test_later_events_are_given_in_order_and_only_of_that_stream(
    make: Callable[[], EventStore],
) -> None:
    store = make()
    for number in range(1, 5):
        await store.append("s", "a", b"a%d" % number)
        await store.append("s", "b", b"b%d" % number)
        await store.append("t", "a", b"t%d" % number)
    assert await store.after("s", "a", 2) == [Event(3, b"a3"), Event(4, b"a4")]
    assert await store.after("s", "a", 4) == []
    assert [event.data for event in await store.after("s", "b", 0) or []] == [b"b1", b"b2", b"b3", b"b4"]


@each_event_store
async def test_data_is_kept_byte_for_byte(make: Callable[[], EventStore]) -> None:
    store = make()
    data = bytes(range(256)) * 40
    await store.append("s", "a", data)
    assert await store.after("s", "a", 0) == [Event(1, data)]


@each_event_store
async def test_what_never_was_is_none(make: Callable[[], EventStore]) -> None:
    store = make()
    await store.append("s", "a", b"x")
    assert await store.after("s", "a", 2) is None
    assert await store.after("s", "b", 0) is None
    assert await store.after("t", "a", 0) is None


@each_event_store
async def test_forgotten_session_has_no_streams(make: Callable[[], EventStore]) -> None:
    store = make()
    for session in ("s", "t"):
        for stream in ("a", "b"):
            await store.append(session, stream, b"x")
    await store.forget("s")
    await store.forget("never was")
    assert await store.after("s", "a", 0) is None
    assert await store.after("s", "b", 0) is None
    assert await store.after("t", "a", 0) == [Event(1, b"x")]


@each_event_store
async def test_dropped_stream_is_gone_and_its_neighbours_are_not(make: Callable[[], EventStore]) -> None:
    store = make()
    await store.append("s", "a", b"x")
    await store.append("s", "b", b"y")
    await store.drop("s", "a")
    await store.drop("s", "never was")
    await store.drop("never was", "a")
    assert await store.after("s", "a", 0) is None
    assert await store.after("s", "b", 0) == [Event(1, b"y")]
