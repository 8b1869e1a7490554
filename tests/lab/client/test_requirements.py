"""The rows of clients: whose they are, why some have no check, and what they say anew of shared ones."""

from pathlib import Path

from assay.lab import client, suite
from assay.lab.harness.requirement import Seen, client_requirements, read_requirements
from tests.meta.tree import expect_none

SHARED, OWN = (Path(package.__path__[0]) / "requirements" for package in (suite, client))
HIDDEN = (Seen.INSIDE, Seen.POLICY)


def test_every_row_that_nothing_shows_carries_its_reason() -> None:
    expect_none(
        f"{row.id} cannot be seen from outside and says not why it has no check"
        for row in client_requirements(SHARED, OWN).values()
        if row.seen in HIDDEN and not row.reason
    )


def test_own_rows_are_of_clients_or_hosts_unless_they_are_shared() -> None:
    shared = read_requirements(SHARED)
    expect_none(
        f"{row.id} is of actor {row.actor}"
        for row in read_requirements(OWN).values()
        if row.actor not in (("both",) if row.id in shared else ("client", "host"))
    )


def test_row_said_anew_is_the_same_sentence_and_differs_in_something() -> None:
    shared, own = read_requirements(SHARED), read_requirements(OWN)
    for name in shared.keys() & own.keys():
        one, other = shared[name], own[name]
        assert (one.statement, one.area) == (other.statement, other.area)
        assert (one.seen, one.levels) != (other.seen, other.levels)


def test_only_rows_of_both_sides_carry_a_reason_of_clients() -> None:
    own = read_requirements(OWN)
    expect_none(
        f"{row.id} says in two places, or in the wrong one, why it has no check of clients"
        for row in (*read_requirements(SHARED).values(), *own.values())
        if row.client_reason and (row.actor == "server" or row.id in own)
    )
