"""What clients make of results: whom a scenario may accuse."""

import pytest

from assay.lab.harness.client_saboteur import EVERY, ClientSaboteur
from assay.lab.harness.guest.client import GuestClient
from assay.lab.harness.hosting.runner import ClientOrder, planned
from assay.lab.harness.hosting.visit import visit
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Outcome
from tests.lab.client.judging import SUITE

UNTYPED = SUITE.scenarios["asking.untyped-result"]


def test_what_is_said_to_an_earlier_server_is_not_held_against_the_rules_of_this_version() -> None:
    assert [one.id for one in SUITE.judging(UNTYPED)] == ["asking.result-types", "contract.ends"]


@pytest.mark.parametrize(("falls_back", "outcome"), [(True, Outcome.PASSED), (False, Outcome.INCOMPLETE)])
async def test_only_a_client_of_earlier_servers_is_judged_by_what_it_makes_of_their_results(
    falls_back: bool, outcome: Outcome
) -> None:
    habit = {"falls_back": falls_back}
    client = ClientSaboteur(id="x", fault="none", breaks="BASE-18", transports=EVERY, manners=habit)
    cells = planned(ClientOrder(SUITE), (Transport.STDIO,))
    cell = next(one for one in cells if one.scenario is UNTYPED)
    visited = await visit(cell, GuestClient(client, Transport.STDIO), SUITE, 30.0)
    assert visited.result.outcome is outcome, visited.result
