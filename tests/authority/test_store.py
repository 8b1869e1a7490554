"""The contract of every store. A new store is added to the table."""

import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.authority.memory import MemoryStore
from assay.authority.sqlite import SqliteStore
from assay.authority.store import Full, Now, Store
from tests.authority.flow import ManualClock

STORES: dict[str, Callable[[Path, Now], Store]] = {
    "memory": lambda path, now: MemoryStore(bound=3, now=now),
    "sqlite": lambda path, now: SqliteStore(path, bound=3, now=now),
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
    store = STORES[request.param](tmp_path / "records.db", clock)
    yield store
    store.close()


def test_a_record_is_found_by_its_kind_and_key_until_it_expires(store: Store, clock: ManualClock) -> None:
    store.put("code", "a", b"1", clock() + 10)
    assert (store.get("code", "a"), store.get("code", "b"), store.get("key", "a")) == (b"1", None, None)
    clock.now += 10
    assert store.get("code", "a") is None
    assert store.all("code") == []


def test_a_later_record_takes_the_place_of_an_earlier_one(store: Store, clock: ManualClock) -> None:
    store.put("code", "a", b"1", clock() + 10)
    store.put("code", "a", b"2", clock() + 20)
    assert store.all("code") == [("a", b"2")]


def test_only_the_first_of_two_is_added_until_it_expires(store: Store, clock: ManualClock) -> None:
    assert store.add("once", "a", b"1", clock() + 10)
    assert not store.add("once", "a", b"2", clock() + 10)
    clock.now += 10
    assert store.add("once", "a", b"3", clock() + 10)
    assert store.get("once", "a") == b"3"


def test_a_record_is_swapped_only_for_what_it_is(store: Store, clock: ManualClock) -> None:
    store.put("code", "a", b"1", clock() + 10)
    assert store.swap("code", "a", b"1", b"2")
    assert not store.swap("code", "a", b"1", b"3")
    assert not store.swap("code", "missing", b"1", b"3")
    assert store.get("code", "a") == b"2"
    clock.now += 10
    assert not store.swap("code", "a", b"2", b"4")


def test_what_is_dropped_is_gone_and_dropping_again_is_no_mistake(store: Store, clock: ManualClock) -> None:
    store.put("code", "a", b"1", clock() + 10)
    store.drop("code", "a")
    store.drop("code", "a")
    assert store.get("code", "a") is None


def test_all_are_listed_oldest_first(store: Store, clock: ManualClock) -> None:
    for key in "cab":
        store.put("key", key, key.encode(), clock() + 10)
    assert [key for key, _ in store.all("key")] == ["c", "a", "b"]


def test_a_full_store_refuses_what_is_new_and_forgets_only_what_has_expired(
    store: Store, clock: ManualClock
) -> None:
    for number, key in enumerate("abc", 1):
        store.put("code", key, b"1", clock() + 10 * number)
    with pytest.raises(Full):
        store.put("code", "d", b"1", clock() + 10)
    with pytest.raises(Full):
        store.add("code", "d", b"1", clock() + 10)
    store.put("code", "a", b"2", clock() + 10)
    store.put("other", "d", b"1", clock() + 10)
    clock.now += 10
    store.put("code", "d", b"1", clock() + 10)
    assert [key for key, _ in store.all("code")] == ["b", "c", "d"]


def test_a_file_keeps_its_records_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "records.db"
    path.touch(0o644)
    first = SqliteStore(path)
    first.put("key", "a", b"1", float("inf"))
    first.close()
    second = SqliteStore(path)
    assert second.all("key") == [("a", b"1")]
    second.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
