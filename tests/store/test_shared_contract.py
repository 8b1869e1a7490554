"""The contract of stores that several processes use: what two of them do at the same time."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.store import open_store
from assay.store.memory_store import MemoryReplay
from assay.store.port import BusMessage, SharedStore, StateRecord, StoreFull
from assay.store.sqlite.database import Database
from assay.store.sqlite.events import SqliteEvents
from assay.store.sqlite.state import SqliteReplay

from .backend import Backend
from .stores import ManualClock, Stores
from .test_contract import record


async def test_change_to_an_old_version_is_refused(shared_stores: Stores) -> None:
    sessions = (await shared_stores.shared()).sessions
    first = record(version=1)
    assert await sessions.add(first, "ada", 10) == []
    assert await sessions.is_current("s", 1)
    second = record(version=2, subscriptions=["test://c"], listening=True)
    assert await sessions.swap(second)
    assert not await sessions.swap(record(version=2))
    assert await sessions.load("s") == second
    assert (await sessions.is_current("s", 1), await sessions.is_current("s", 2)) == (False, True)
    assert not await sessions.swap(record("unknown", version=1))


async def test_client_with_the_most_sessions_makes_room_for_others(shared_stores: Stores) -> None:
    clock = ManualClock()
    sessions = (await shared_stores.shared(clock, idle_timeout=1800)).sessions
    for number in range(3):
        clock.now += 200
        assert await sessions.add(record(f"ada-{number}", version=1), "ada", 3) == []
    clock.now += 200
    await sessions.touch("ada-0")
    assert await sessions.add(record("bob", version=1), "bob", 3) == ["ada-1"]  # used least recently
    assert await sessions.add(record("ada-3", version=1), "ada", 3) == ["ada-2"]  # its own
    assert await sessions.count() == 3
    assert await sessions.load("bob") is not None
    assert await sessions.add(record("eve", version=1), "eve", 3) == ["eve"]  # all are in use
    assert await sessions.load("eve") is None


async def test_messages_are_numbered_without_gaps_by_all_writers(backend: Backend) -> None:
    stores = [open_store(backend.url) for _ in range(2)]
    for store in stores:
        await store.start()
    writes = [store.events.append("s", "0", b"x") for store in stores * 20]
    assert sorted(await asyncio.gather(*writes)) == list(range(1, 41))
    for store in stores:
        await store.close()


async def test_stream_ends_once(shared_stores: Stores) -> None:
    events = (await shared_stores.shared()).events
    assert await events.write("s", "w.1", b"x", is_last=False) is None  # not opened
    await events.open("s", "w.1", "w", b"died")
    first = await events.write("s", "w.1", b"x", is_last=False)
    assert first is not None and (first.last, first.finished, first.worker) == (1, False, "w")
    failed = await events.finish("s", "w.1", failed=True)
    assert failed is not None and (failed.last, failed.finished) == (2, True)
    assert await events.write("s", "w.1", b"late", is_last=True) is None
    assert await events.finish("s", "w.1") is None
    assert [event.data for event in await events.after("s", "w.1", 0) or []] == [b"x", b"died"]


async def test_reader_of_a_stream_is_known_to_its_writer(shared_stores: Stores) -> None:
    events = (await shared_stores.shared()).events
    assert await events.follow("s", "w.1", "r") is None
    await events.open("s", "w.1", "w", b"")
    before = await events.follow("s", "w.1", "r")
    assert before is not None and before.reader == ""
    state = await events.write("s", "w.1", b"x", is_last=False)
    assert state is not None and state.reader == "r"
    await events.unfollow("s", "w.1", "other", 1)
    await events.unfollow("s", "w.1", "r", 1)
    after = await events.state("s", "w.1")
    assert after is not None and (after.reader, after.delivered) == ("", 1)


async def listening(store: SharedStore, session_id: str, **changed: object) -> None:
    await store.sessions.add(record(session_id, version=1, subscriptions=[]), "ada", 100)
    await store.sessions.swap(record(session_id, version=2, **changed))


async def test_announcement_reaches_the_sessions_that_ask_for_it(shared_stores: Stores) -> None:
    store = await shared_stores.shared()
    await listening(store, "a", listening=True, subscriptions=["test://a"])
    await listening(store, "b", listening=True, subscriptions=[])
    await listening(store, "c", subscriptions=["test://a"])
    await store.events.announce(b"list", None)
    await store.events.announce(b"updated", "test://a")
    received = {name: await store.events.after(name, "0", 0) or [] for name in "abc"}
    assert {name: [event.data for event in events] for name, events in received.items()} == {
        "a": [b"list", b"updated"],
        "b": [b"list"],
        "c": [b"updated"],
    }
    await store.sessions.swap(record("a", version=3, subscriptions=[]))
    await store.sessions.delete("c")
    await store.events.announce(b"updated", "test://a")
    assert [await store.events.after(name, "0", 1) or [] for name in "c"] == [[]]
    assert len(await store.events.after("a", "0", 0) or []) == 2


async def test_streams_of_a_session_end_with_it(shared_stores: Stores) -> None:
    store = await shared_stores.shared()
    await store.sessions.add(record(version=1), "ada", 10)
    await store.events.open("s", "w.1", "w", b"")
    await store.sessions.delete("s")
    assert await store.events.write("s", "w.1", b"x", is_last=False) is None
    assert await store.events.write("s", "0", b"x", is_last=False) is None


async def test_state_is_kept_in_versions(stores: Stores) -> None:
    state = (await stores.store()).state
    assert state.peek("ada") == StateRecord({}, 0)
    first = StateRecord({"key": b'"value"'}, 1)
    assert await state.swap("ada", first)
    assert not await state.swap("ada", first)
    assert (state.peek("ada"), state.peek("bob")) == (first, StateRecord({}, 0))
    assert await state.swap("ada", replace(first, version=2))


async def test_key_is_used_once_until_it_expires(stores: Stores) -> None:
    clock = ManualClock()
    clock.now = 4_000_000_000.0  # later than the clock of any Redis
    replay = (await stores.store(clock)).replay
    assert await replay.add(b"a", clock.now + 60)
    assert not await replay.add(b"a", clock.now + 60)
    assert await replay.add(b"b", clock.now + 60)


async def test_bucket_gives_its_tokens_and_then_says_how_long_to_wait(stores: Stores) -> None:
    limits = (await stores.store()).limits
    assert [await limits.take("a", 0.01, 2) for _ in range(2)] == [0, 0]
    assert await limits.take("a", 0.01, 2) == pytest.approx(100, rel=0.05)
    assert await limits.take("b", 0.01, 2) == 0


async def test_messages_reach_other_processes_in_order_and_not_their_sender(backend: Backend) -> None:
    stores = [open_store(backend.url) for _ in range(3)]
    received: list[list[bytes]] = [[], [], []]
    arrived = asyncio.Event()
    for store, messages in zip(stores, received, strict=True):
        store.bus.subscribe("topic", lambda message, messages=messages: messages.append(message.data))  # type: ignore[misc]
        await store.start()
    stores[2].bus.subscribe("end", lambda message: arrived.set())
    sent = [b"%d" % number for number in range(50)]
    await stores[0].bus.publish([BusMessage("other", b"x"), *(BusMessage("topic", data) for data in sent)])
    await stores[1].bus.publish([BusMessage("end", b"")])
    async with asyncio.timeout(5):
        await arrived.wait()
    assert received == [[], received[1], sent]
    assert await stores[0].bus.is_alive(stores[1].bus.worker)
    assert not await stores[0].bus.is_alive("nobody")
    for store in stores:
        await store.close()


async def test_process_that_ends_is_not_alive_any_more(backend: Backend) -> None:
    first, second = open_store(backend.url), open_store(backend.url)
    await first.start()
    await second.start()
    name = second.bus.worker
    await second.close()
    assert not await first.bus.is_alive(name)
    await first.close()


# Bounds.


async def test_streams_keep_their_latest_messages_within_the_bounds(tmp_path: Path) -> None:
    database = Database(tmp_path / "state.db")
    database.open()
    events = SqliteEvents(database, events_per_stream=3, bytes_per_session=4000, total_bytes=6000)
    for number in range(1, 6):
        assert await events.append("s", "a", b"%d" % number) == number
    assert [event.number for event in await events.after("s", "a", 2) or []] == [3, 4, 5]
    assert await events.after("s", "a", 1) is None
    for session in "tuv":
        for _ in range(3):
            await events.append(session, "a", b"x" * 1000)
    stored = database.read("select sum(length(data) + 128), (select event_bytes from totals) from events")
    assert stored[0][0] == stored[0][1] <= 6000
    await events.forget("s")
    for session in "tuv":
        await events.drop(session, "a")
    assert database.read("select event_bytes from totals") == [(0,)]
    database.close()


async def test_keys_that_may_be_used_once_are_limited_in_number(tmp_path: Path) -> None:
    database, clock = Database(tmp_path / "state.db"), ManualClock()
    database.open()
    for replay in (SqliteReplay(database, 2, clock=clock), MemoryReplay(2, clock=clock)):
        clock.now = 1000.0
        for key in (b"a", b"b"):
            assert await replay.add(key, 1060)
        with pytest.raises(StoreFull, match="too many keys that have not expired: limit 2"):
            await replay.add(b"c", 1060)
        clock.now = 1061
        assert await replay.add(b"a", 1120)
    database.close()
