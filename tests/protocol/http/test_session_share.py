"""Which session makes room for a new one, and when a new one is refused."""

from __future__ import annotations

import pytest

from assay.protocol.http.session_share import SessionShares
from assay.protocol.session_budget import SessionBudget

REFUSED = "refused"


class Table:
    """Sessions named `client number`, such as `a1`."""

    def __init__(self, limit: int, budget: int = 1_000_000) -> None:
        self.budget = SessionBudget(budget)
        self.shares = SessionShares(limit, self.budget)
        self.sizes: dict[str, int] = {}

    def open(self, name: str, size: int = 0) -> list[str]:
        """Open a session, and return those that were given up for it, or that it was refused."""
        self.budget.used += size
        self.shares.add(name, name[0], size)
        given_up = []
        must_give_up = self.shares.must_give_up(name)
        while must_give_up:
            other = self.shares.to_give_up(name)
            if other is None:
                self.end(name)
                self.budget.used -= size
                return [*given_up, REFUSED]
            given_up.append(other)
            self.end(other)
            must_give_up = self.shares.is_full()
        self.sizes[name] = size
        self.shares.finish(name, size)
        return given_up

    def end(self, name: str) -> None:
        self.shares.remove(name)
        self.budget.used -= self.sizes.pop(name, 0)

    def use(self, name: str) -> None:
        self.shares.begin(name)
        self.shares.finish(name, self.sizes[name])


STEPS: dict[str, tuple[int, str, str, list[str]]] = {
    # what happens before, in order: `a1` opens, `+a1` uses it, `!a1` begins a request that does not end
    "there is room": (4, "a1 a2 a3", "a4", []),
    "a lone client gives up what it never used": (3, "a1 +a1 a2 a3", "a4", ["a2"]),
    "a lone client gives up what it used least recently": (3, "a1 a2 a3 +a3 +a1 +a2", "a4", ["a3"]),
    "a lone client keeps what is in use": (3, "a1 a2 a3 !a1 !a2", "a4", ["a3"]),
    "a lone client is refused if all is in use": (2, "a1 a2 !a1 !a2", "a3", [REFUSED]),
    "the client with the most makes room": (4, "b1 a1 a2 a3", "c1", ["a1"]),
    "its session in use does not": (4, "b1 a1 a2 a3 !a1 +a2", "c1", ["a3"]),
    "a client over its share gives up its own": (4, "b1 a1 a2 a3", "a4", ["a1"]),
    "a client over its share is refused if all of it is in use": (
        4,
        "b1 a1 a2 a3 !a1 !a2 !a3",
        "a4",
        [REFUSED],
    ),
    "others with as much make room if the largest cannot": (
        5,
        "b1 a1 a2 a3 a4 !a1 !a2 !a3 !a4",
        "c1",
        ["b1"],
    ),
    "smaller ones do not": (4, "c1 b1 a1 a2 !a1 !a2", "b2", ["b1"]),
    "among equals the least recently used makes room": (3, "a1 b1 c1 +a1", "d1", ["b1"]),
    "if all is in use, a newcomer is refused": (3, "a1 b1 c1 !a1 !b1 !c1", "d1", [REFUSED]),
}


@pytest.mark.parametrize(("limit", "before", "name", "given_up"), STEPS.values(), ids=STEPS.keys())
def test_order_in_which_sessions_are_given_up(
    limit: int, before: str, name: str, given_up: list[str]
) -> None:
    table = Table(limit)
    for step in before.split():
        if step.startswith("+"):
            table.use(step[1:])
        elif step.startswith("!"):
            table.shares.begin(step[1:])
        else:
            assert table.open(step) == []
    assert table.open(name) == given_up


def test_lone_client_may_use_everything() -> None:
    table = Table(100)
    assert [table.open(f"a{number}") for number in range(100)] == [[]] * 100


def test_shares_count_only_when_the_server_is_nearly_full() -> None:
    table = Table(100)
    table.open("b0")
    assert [table.open(f"a{number}") for number in range(89)] == [[]] * 89
    assert table.open("a89") == ["a0"]
    assert [table.open(f"b{number}") for number in range(1, 11)] == [[]] * 10
    assert table.open("b11") == ["a1"]


def test_flood_of_one_client_ends_no_session_of_another() -> None:
    table = Table(1000)
    others = [f"{client}{number}" for client in "bcde" for number in range(5)]
    for name in others:
        table.open(name)
    table.shares.begin("b0")
    given_up = [name for number in range(20_000) for name in table.open(f"a{number}")]
    assert len(given_up) > 19_000
    assert {name[0] for name in given_up} == {"a"}
    assert table.open("f0") == []


def test_two_requests_in_progress_end_one_after_the_other() -> None:
    table = Table(1)
    table.open("a1")
    table.shares.begin("a1")
    table.shares.begin("a1")
    table.shares.finish("a1", 0)
    assert list(table.shares.busy) == ["a1"]
    assert table.open("b1") == [REFUSED]
    table.shares.finish("a1", 0)
    assert list(table.shares.busy) == []
    assert table.open("b2") == ["a1"]


def test_clients_with_large_sessions_make_room_for_others() -> None:
    table = Table(1000, budget=1000)
    table.open("b1", 10)
    for number in range(3):
        table.open(f"a{number}", 250)
    assert [table.open(f"c{number}", 80) for number in range(3)] == [[]] * 3
    assert table.open("c3", 80) == ["a0"]
    assert table.open("a3", 900) == ["a1", "a2", REFUSED]


def test_ended_clients_are_forgotten() -> None:
    table = Table(3)
    for name in ("a1", "a2", "b1"):
        table.open(name)
    for name in ("a1", "a2", "b1", "never opened"):
        table.end(name)
    table.shares.begin("a1")
    table.shares.finish("a1", 0)
    assert (len(table.shares), table.shares._clients, len(table.shares._idle)) == (0, {}, 0)
    assert table.shares.to_give_up("a1") is None
