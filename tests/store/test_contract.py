"""The contract of all stores. Add a new one to `KINDS` of `tests/store/conftest.py`."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from assay.model.definition import ClientCapabilities, Implementation
from assay.model.limits import Limits
from assay.model.session import SessionRecord
from assay.model.task import Status, TaskRecord
from assay.protocol.task import moved
from assay.revisions.registry import HANDSHAKE
from assay.store.port import Event, StoreFull

from .stores import ManualClock, Stores


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


async def test_session_comes_back_as_it_was_saved(stores: Stores) -> None:
    store = await stores.sessions(ManualClock(), 60)
    await store.save(record())
    assert await store.load("s") == record()
    await store.save(record(log_level="debug", subscriptions=[]))
    assert await store.load("s") == record(log_level="debug", subscriptions=[])


async def test_unknown_session_is_none(stores: Stores) -> None:
    store = await stores.sessions(ManualClock(), 60)
    await store.save(record())
    assert await store.load("other") is None
    assert await store.delete("other") is False


async def test_deleted_session_is_gone(stores: Stores) -> None:
    store = await stores.sessions(ManualClock(), 60)
    await store.save(record("one"))
    await store.save(record("two"))
    assert await store.delete("one") is True
    assert await store.delete("one") is False
    assert await store.load("one") is None
    assert await store.load("two") == record("two")


async def test_session_that_is_not_used_expires(stores: Stores) -> None:
    clock = ManualClock()
    store = await stores.sessions(clock, 60)
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


async def test_store_evicts_only_what_has_expired(stores: Stores) -> None:
    """Which sessions end when there are too many depends on their clients, which a store does not know."""
    store = await stores.sessions(ManualClock(), 60)
    for number in range(300):
        await store.save(record(str(number)))
    assert await store.evict() == []
    assert await store.load("0") == record("0")


async def test_asking_for_a_session_is_no_use_of_it(stores: Stores) -> None:
    clock = ManualClock()
    store = await stores.sessions(clock, 60)
    await store.save(record())
    clock.now += 59
    assert await store.load("s") is not None
    clock.now += 2
    assert await store.load("s") is None


async def test_expired_session_stays_expired(stores: Stores) -> None:
    clock = ManualClock()
    store = await stores.sessions(clock, 60)
    await store.save(record())
    clock.now += 61
    assert await store.load("s") is None
    await store.touch("s")
    await store.touch("unknown")
    assert await store.load("s") is None
    assert await store.evict() == ["s"]


async def test_events_are_numbered_from_one_within_their_stream(stores: Stores) -> None:
    store = await stores.events()
    assert [await store.append("s", "a", b"x") for _ in range(3)] == [1, 2, 3]
    assert await store.append("s", "b", b"y") == 1
    assert await store.append("t", "a", b"z") == 1


async def test_later_events_are_given_in_order_and_only_of_that_stream(stores: Stores) -> None:
    store = await stores.events()
    for number in range(1, 5):
        await store.append("s", "a", b"a%d" % number)
        await store.append("s", "b", b"b%d" % number)
        await store.append("t", "a", b"t%d" % number)
    assert await store.after("s", "a", 2) == [Event(3, b"a3"), Event(4, b"a4")]
    assert await store.after("s", "a", 4) == []
    assert [event.data for event in await store.after("s", "b", 0) or []] == [b"b1", b"b2", b"b3", b"b4"]


async def test_data_is_kept_byte_for_byte(stores: Stores) -> None:
    store = await stores.events()
    data = bytes(range(256)) * 40
    await store.append("s", "a", data)
    assert await store.after("s", "a", 0) == [Event(1, data)]


async def test_what_never_was_is_none(stores: Stores) -> None:
    store = await stores.events()
    await store.append("s", "a", b"x")
    assert await store.after("s", "a", 2) is None
    assert await store.after("s", "b", 0) is None
    assert await store.after("t", "a", 0) is None


async def test_forgotten_session_has_no_streams(stores: Stores) -> None:
    store = await stores.events()
    for session in ("s", "t"):
        for stream in ("a", "b"):
            await store.append(session, stream, b"x")
    await store.forget("s")
    await store.forget("never was")
    assert await store.after("s", "a", 0) is None
    assert await store.after("s", "b", 0) is None
    assert await store.after("t", "a", 0) == [Event(1, b"x")]


async def test_dropped_stream_is_gone_and_its_neighbours_are_not(stores: Stores) -> None:
    store = await stores.events()
    await store.append("s", "a", b"x")
    await store.append("s", "b", b"y")
    await store.drop("s", "a")
    await store.drop("s", "never was")
    await store.drop("never was", "a")
    assert await store.after("s", "a", 0) is None
    assert await store.after("s", "b", 0) == [Event(1, b"y")]


def task(task_id: str = "t", **changed: Any) -> TaskRecord:
    fields: dict[str, Any] = {"id": task_id, "owner": "ada", "form": "core", "tool": "slow", "worker": "w"}
    fields |= {"created": 1000.0, "updated": 1000.0, "ttl": 60_000, "poll_interval": 500}
    return TaskRecord(**fields | changed)


def ended(record: TaskRecord, result: bytes = b"{}") -> TaskRecord:
    finished = moved(record, Status.COMPLETED, 1001, result=Raw(result))
    assert finished is not None
    return finished


async def test_a_task_is_stored_in_versions(stores: Stores) -> None:
    store = await stores.tasks(ManualClock(), Limits())
    first = await store.add(task())
    assert await store.load("t") == first
    assert await store.load("other") is None
    second = ended(first, b'{"content":[]}')
    assert await store.swap(second)
    assert await store.load("t") == second
    assert not await store.swap(ended(first))  # another version is stored by now
    assert not await store.swap(ended(task("other")))


async def test_a_task_is_gone_after_its_time_to_live(stores: Stores) -> None:
    clock = ManualClock()
    store = await stores.tasks(clock, Limits())
    first = await store.add(task(ttl=5000))
    await store.add(task("longer"))
    assert await store.next_expiry() == 1005
    clock.now = 1005
    assert await store.load("t") is None
    assert not await store.swap(ended(first))
    assert await store.page("ada", "core", 0, 10) == [await store.load("longer")]
    assert await store.evict() == ["t"]
    assert await store.evict() == []
    clock.now = 2000
    assert await store.evict() == ["longer"]
    assert await store.next_expiry() is None


async def test_tasks_are_limited_in_number_and_bytes(stores: Stores) -> None:
    clock = ManualClock()
    store = await stores.tasks(clock, Limits(tasks=3, client_tasks=2, task_bytes=8192))
    first = await store.add(task("a"))
    await store.add(task("b"))
    with pytest.raises(StoreFull, match="of one caller: limit 2"):
        await store.add(task("c"))
    await store.add(task("c", owner="bob"))
    with pytest.raises(StoreFull, match="too many tasks: limit 3"):
        await store.add(task("d", owner="eve"))
    with pytest.raises(StoreFull, match="bytes: limit 8192"):
        await store.swap(ended(first, b"x" * 8000))
    assert await store.load("a") == first
    clock.now = 2000  # expired tasks make room
    await store.add(task("d", owner="eve", created=2000.0))


async def test_callers_that_are_not_authenticated_share_the_whole_store(stores: Stores) -> None:
    store = await stores.tasks(ManualClock(), Limits(tasks=3, client_tasks=1))
    for task_id in "abc":
        await store.add(task(task_id, owner=""))


async def test_tasks_are_listed_by_owner_and_form_in_order(stores: Stores) -> None:
    store = await stores.tasks(ManualClock(), Limits())
    for task_id, owner, form in (("1", "ada", "core"), ("2", "bob", "core"), ("3", "ada", "extension")):
        await store.add(task(task_id, owner=owner, form=form))
    stored = [await store.add(task(task_id)) for task_id in ("4", "5")]
    listed = await store.page("ada", "core", 0, 2)
    assert [record.id for record in listed] == ["1", "4"]
    assert await store.page("ada", "core", listed[-1].serial, 2) == stored[1:]
    assert await store.newest() == stored[-1].serial


async def test_unfinished_tasks_of_a_worker_are_found_again(stores: Stores) -> None:
    store = await stores.tasks(ManualClock(), Limits())
    await store.add(task("other", worker="x"))
    first = await store.add(task("a"))
    second = await store.add(task("b"))
    await store.swap(ended(first))
    assert await store.unfinished("w") == [second]


async def test_every_new_version_is_announced_until_the_watch_ends(stores: Stores) -> None:
    store, announced = await stores.tasks(ManualClock(), Limits()), list[TaskRecord]()
    end = store.watch(announced.append)
    first = await store.add(task("a"))
    await store.swap(ended(first))
    end()
    second = await store.add(task("b"))
    await store.swap(ended(second))
    assert announced == [ended(first)]
