"""The fair queue: clients take turns."""

from __future__ import annotations

from assay.server.handlers.fair_queue import FairQueue


def filled(*entries: tuple[str, str]) -> FairQueue[str]:
    queue: FairQueue[str] = FairQueue()
    for client, item in entries:
        queue.put(client, item)
    return queue


def test_clients_take_turns() -> None:
    queue = filled(("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("c", "c1"), ("b", "b2"))
    assert [queue.take() for _ in range(7)] == ["a1", "b1", "c1", "a2", "b2", "a3", None]


def test_client_that_is_not_eligible_keeps_its_turn() -> None:
    queue = filled(("a", "a1"), ("b", "b1"))
    assert [queue.take(lambda client: client != "a"), queue.take()] == ["b1", "a1"]
    assert queue.take(lambda client: False) is None


def test_discarded_item_is_not_taken() -> None:
    queue = filled(("a", "a1"), ("a", "a2"), ("b", "b1"))
    assert [queue.discard("a", "a1"), queue.discard("a", "a1"), queue.discard("c", "c1")] == [
        True,
        False,
        False,
    ]
    assert [queue.take(), queue.take(), len(queue)] == ["a2", "b1", 0]


def test_newest_item_of_the_longest_queue_leaves_first() -> None:
    queue = filled(("a", "a1"), ("b", "b1"), ("b", "b2"))
    assert (queue.longest(), queue.length_of("b"), queue.length_of("c")) == (2, 2, 0)
    assert (queue.take_newest_of_longest(), len(queue), queue.longest()) == ("b2", 2, 1)


def test_empty_queue_remembers_no_client() -> None:
    queue = filled(("a", "a1"))
    queue.take()
    assert (len(queue), queue.longest(), queue._items) == (0, 0, {})
