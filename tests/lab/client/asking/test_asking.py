"""What clients make of results: whom a scenario may accuse."""

from typing import Any

import pytest

from assay.lab.harness.sabotage.client_saboteur import EVERY, ClientSaboteur
from assay.lab.harness.scripted_client.in_process import InProcessClient
from assay.lab.harness.scripted_server.client_run import run_client
from assay.lab.harness.scripted_server.runner import ClientOrder, planned
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Outcome
from tests.lab.client.judging import INITIALIZE, SUITE, WELCOME, verdicts
from tests.lab.traces import request, result, stdio_trace

UNTYPED = SUITE.scenarios["asking.untyped-result"]


def test_what_is_said_to_an_earlier_server_is_not_held_against_the_rules_of_this_version() -> None:
    assert [one.id for one in SUITE.judging(UNTYPED)] == ["asking.result-types", "contract.ends"]


@pytest.mark.parametrize(("falls_back", "outcome"), [(True, Outcome.PASSED), (False, Outcome.INCOMPLETE)])
async def test_only_a_client_of_earlier_servers_is_judged_by_what_it_makes_of_their_results(
    falls_back: bool, outcome: Outcome
) -> None:
    habit = {"falls_back": falls_back}
    client = ClientSaboteur(id="x", fault="none", breaks="BASE-18", transports=EVERY, behaviour=habit)
    cells = planned(ClientOrder(SUITE), (Transport.STDIO,))
    cell = next(one for one in cells if one.scenario is UNTYPED)
    run = await run_client(cell, InProcessClient(client, Transport.STDIO), SUITE, 30.0)
    assert run.result.outcome is outcome, run.result


def sampled(content: dict[str, Any], capabilities: dict[str, Any]) -> list[bool]:
    opening = {**INITIALIZE, "params": {**INITIALIZE["params"], "capabilities": capabilities}}
    asked = request("host-1", "sampling/createMessage", messages=[], maxTokens=9, tools=[{"name": "dice"}])
    told = result("host-1", role="assistant", model="m", content=content)
    trace = stdio_trace(("<", opening), (">", WELCOME), (">", asked), ("<", told))
    return verdicts("asking.declared", "SMP-02", trace)


@pytest.mark.parametrize(
    ("content", "capabilities", "found"),
    [
        ({"type": "text", "text": "no tools for me"}, {"sampling": {}}, []),
        ({"type": "tool_use", "id": "1", "name": "dice", "input": {}}, {"sampling": {}}, [False]),
        ({"type": "tool_use", "id": "1", "name": "dice", "input": {}}, {"sampling": {"tools": {}}}, [True]),
    ],
    ids=["leaves tools alone", "uses a tool", "uses a tool, as declared"],
)
def test_only_a_model_that_uses_tools_has_to_be_declared_to(
    content: dict[str, Any], capabilities: dict[str, Any], found: list[bool]
) -> None:
    assert sampled(content, capabilities) == found
