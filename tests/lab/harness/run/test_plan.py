"""The order in which cells run."""

from assay.lab.harness.run.plan import LOAD, Selection, plan
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.transport import Transport
from assay.lab.suites import protocol_suite
from assay.revisions.registry import HANDSHAKE

REVISION = HANDSHAKE[-1]
KNOWN = {Transport.HTTP: {REVISION: Facts(REVISION.date)}}


def order(*first: str) -> list[str]:
    """The planned scenarios, with these selected to come first."""
    places = frozenset((name, Transport.HTTP, REVISION.date) for name in first)
    return [cell.scenario.id for cell in plan(protocol_suite(), KNOWN, Selection(first=places))]


def test_preferred_scenarios_come_first_and_the_rest_keeps_its_order() -> None:
    usual = order()
    assert usual[0] != "lifecycle.ping"
    assert order("lifecycle.ping") == [
        "lifecycle.ping",
        *(name for name in usual if name != "lifecycle.ping"),
    ]


def test_unplanned_scenario_cannot_come_first() -> None:
    assert order("no.such-scenario") == order()


def test_scenario_with_load_runs_only_if_load_is_allowed() -> None:
    for allowed, reason in ((False, LOAD), (True, None)):
        selection = Selection(scenarios=("robustness.deep-json",), load=allowed)
        assert [cell.reason for cell in plan(protocol_suite(), KNOWN, selection)] == [reason]


def test_load_names_the_option_that_allows_it() -> None:
    assert LOAD.options == ("--allow-load",)


def test_scenarios_with_load_come_last_since_a_server_may_not_survive_them() -> None:
    assert order()[-1] == "robustness.deep-json"
