"""What a client speaks and can do is found out before it is judged; the rest is not applicable."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from assay.lab.harness.reason import ReasonKind
from assay.lab.harness.run.conclusion import Conclusion, conclude
from assay.lab.harness.run.event import RunEvent, SubjectKnown
from assay.lab.harness.run.plan import Selection, is_defined
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.scripted_client.in_process import InProcessClient
from assay.lab.harness.scripted_server.ability import Ability, needed, unmet
from assay.lab.harness.scripted_server.client import UNABLE, ClientExit, ClientSetup
from assay.lab.harness.scripted_server.client_run import ClientRun
from assay.lab.harness.scripted_server.runner import ClientOrder, ClientRunner
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Header
from assay.lab.harness.trace.recorder import Recorder, Redaction
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Outcome
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE, PER_REQUEST, REVISIONS

pytestmark = pytest.mark.waits

SUITE = suite_named("client")
OLD, NEW = HANDSHAKE[-1], PER_REQUEST[-1]
Before = Callable[[ClientSetup], Awaitable[ClientSetup | ClientExit]]
DECLARED_BY = {
    **dict.fromkeys(("list_tools", "call_tool", "echo_schema", "call_listed"), "tools"),
    **dict.fromkeys(("list_resources", "list_templates", "read_resource"), "resources"),
    **dict.fromkeys(("list_prompts", "get_prompt"), "prompts"),
    "complete": "completions",
}


class Limited:
    """The scripted client, with a function that may change its task or end it first."""

    name = "a limited client"

    def __init__(self, before: Before, transport: Transport = Transport.HTTP) -> None:
        self.transport = transport
        self._before = before
        self.started: list[str] = []

    async def run(self, setup: ClientSetup, limit: float) -> ClientExit:
        self.started.append(f"{setup.scenario} {setup.revision}")
        task = await self._before(setup)
        if isinstance(task, ClientExit):
            return task
        return await InProcessClient(transport=self.transport, patience=5.0).run(task, limit)


def without(*steps: str) -> Before:
    async def limited(setup: ClientSetup) -> ClientSetup:
        left = [step for step in setup.context["steps"] if step["do"] not in steps]
        return replace(setup, context={**setup.context, "steps": left})

    return limited


def speaking(*revisions: Any) -> Before:
    """A client that speaks only these revisions, whatever it is asked for."""

    async def limited(setup: ClientSetup) -> ClientSetup:
        dates = [revision.date for revision in revisions]
        return setup if setup.revision in dates else replace(setup, revision=dates[-1])

    return limited


def keep(run: ClientRun) -> CellResult:
    return run.result


async def judged(client: Limited, *scenarios: str, revisions: Any = (), skipped: Any = ()) -> Run:
    selection = Selection(scenarios=scenarios, revisions=revisions, skipped=skipped)
    order = ClientOrder(SUITE, selection, limit=10.0, jobs=4, probes=True)
    return await ClientRunner(order, [client], lambda event: None, keep).run()


def outcomes(run: Run) -> dict[str, Outcome]:
    return {f"{cell.scenario} {cell.revision}": cell.outcome for cell in run.cells}


async def test_only_spoken_revisions_are_judged() -> None:
    older = HANDSHAKE[-2]
    run = await judged(Limited(speaking(older)), "tools_call")
    assert outcomes(run) == {f"tools_call {older}": Outcome.PASSED}
    (subject,) = run.subjects
    assert older.date in [facts.revision for facts in subject.facts]
    refused = {refusal.revision: refusal.reason for refusal in subject.refused}
    assert refused[OLD.date] == f"it offers {older}, and no later one"
    assert refused[NEW.date] == f"it opens with initialize, and offers {older}"


async def test_newest_of_each_kind_is_judged_by_default() -> None:
    events: list[RunEvent] = []
    order = ClientOrder(SUITE, Selection(scenarios=("tools_call",)), limit=10.0, jobs=4, probes=True)
    run = await ClientRunner(order, [InProcessClient(patience=5.0)], events.append, keep).run()
    assert set(outcomes(run)) == {f"tools_call {OLD}", f"tools_call {NEW}"}
    (known,) = [event for event in events if isinstance(event, SubjectKnown)]
    assert {OLD.date, NEW.date} < {facts.revision for facts in known.record.facts}
    assert known.record.refused == []


async def test_client_and_selection_without_a_common_revision_is_said_in_one_line() -> None:
    run = await judged(Limited(speaking(HANDSHAKE[0])), "tools_call", revisions=(NEW,))
    assert run.cells == [] and "\n" not in run.problem
    assert run.problem.startswith("not applicable: the client speaks none of the selected revisions")
    assert conclude(run) is Conclusion.INCOMPLETE


async def test_steps_that_the_probe_shows_missing_are_not_applicable() -> None:
    client = Limited(without("complete", "list_prompts", "get_prompt"))
    run = await judged(client, "core.open-house", "jsonrpc.answers", revisions=(OLD,))
    assert outcomes(run) == {
        f"core.open-house {OLD}": Outcome.NOT_APPLICABLE,
        f"jsonrpc.answers {OLD}": Outcome.PASSED,
    }
    (cell,) = [cell for cell in run.cells if cell.scenario == "core.open-house"]
    assert cell.reason_kind is ReasonKind.NOT_APPLICABLE
    assert cell.reason.endswith("in the probe it skipped complete, get_prompt, list_prompts")


async def test_capabilities_that_the_client_does_not_declare_are_not_applicable() -> None:
    async def mute(setup: ClientSetup) -> ClientSetup:
        return replace(setup, context={**setup.context, "capabilities": ["sampling"], "answers": {}})

    run = await judged(Limited(mute), "asking.roots", "asking.form-accepted", revisions=(OLD,))
    assert set(outcomes(run).values()) == {Outcome.NOT_APPLICABLE}
    assert "does not declare roots" in " ".join(cell.reason for cell in run.cells)


async def test_client_that_reads_one_page_is_not_held_to_more() -> None:
    saboteur = SUITE.client_saboteurs["utilities.first-page-of-prompts"]
    selection = Selection(scenarios=("utilities.pages", "hostile.odd-events"), revisions=(OLD,))
    order = ClientOrder(SUITE, selection, limit=10.0, jobs=4, probes=True)
    run = await ClientRunner(order, [InProcessClient(saboteur)], lambda event: None, keep).run()
    assert set(outcomes(run).values()) == {Outcome.NOT_APPLICABLE}
    # Nor if the probe showed nothing.
    run = await ClientRunner(
        replace(order, probes=False), [InProcessClient(saboteur)], lambda event: None, keep
    ).run()
    assert set(outcomes(run).values()) == {Outcome.INCOMPLETE}


async def test_client_that_ignores_the_timeout_of_a_call_is_not_failed_for_waiting() -> None:
    async def patient(setup: ClientSetup) -> ClientSetup:
        steps = [{key: step[key] for key in step if key != "timeout"} for step in setup.context["steps"]]
        return replace(setup, context={**setup.context, "steps": steps})

    run = await judged(Limited(patient), "framing.gives-up", revisions=(OLD,))
    (cell,) = run.cells
    assert cell.outcome is Outcome.NOT_APPLICABLE and cell.reason.endswith("it skipped timeout")


async def test_client_without_authorization_is_not_held_to_it() -> None:
    client = Limited(without())
    run = await judged(client, "auth/metadata-default", "auth/pre-registration", revisions=(OLD,))
    assert set(outcomes(run).values()) == {Outcome.PASSED}

    async def plain(setup: ClientSetup) -> ClientSetup | ClientExit:
        if "oauth" not in setup.context:
            return setup
        place = urlsplit(setup.url)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
        head = await reader.readuntil(b"\r\n\r\n")
        writer.close()
        assert b" 401 " in head
        return ClientExit(0)

    client = Limited(plain)
    run = await judged(client, "auth/*", revisions=(OLD,))
    assert set(outcomes(run).values()) == {Outcome.NOT_APPLICABLE}
    assert len(client.started) == 2, "one probe for the revision, one for authorization"


async def test_client_says_by_its_status_what_it_cannot_do() -> None:
    async def refuse(setup: ClientSetup) -> ClientSetup | ClientExit:
        unable = setup.scenario == "jsonrpc.unicode"
        return ClientExit(UNABLE, stderr=b"log\nno Unicode here\n") if unable else setup

    run = await judged(Limited(refuse), "jsonrpc.unicode", "jsonrpc.answers", revisions=(OLD,))
    assert outcomes(run)[f"jsonrpc.answers {OLD}"] is Outcome.PASSED
    (cell,) = [cell for cell in run.cells if cell.outcome is Outcome.NOT_APPLICABLE]
    assert cell.reason == "the client says so, with exit status 127: no Unicode here" and not cell.checks
    assert conclude(run) is Conclusion.CONFORMS


async def test_client_that_knows_scenarios_by_name_is_judged_by_the_official_ones() -> None:
    async def named(setup: ClientSetup) -> ClientSetup | ClientExit:
        if setup.scenario != "tools_call":
            return ClientExit(1, stderr=b"unknown scenario")
        steps = [step for step in setup.context["steps"] if step.get("name") != "assay_probe"]
        return replace(setup, context={"steps": steps})

    run = await judged(Limited(named), "tools_call", "core.open-house", revisions=(OLD,))
    assert outcomes(run) == {
        f"core.open-house {OLD}": Outcome.NOT_APPLICABLE,
        f"tools_call {OLD}": Outcome.PASSED,
    }


async def test_command_that_only_lists_tools_is_not_held_to_other_official_scenarios() -> None:
    async def lists(setup: ClientSetup) -> ClientSetup:
        return replace(setup, context={"steps": [{"do": "list_tools"}]})

    run = await judged(
        Limited(lists), "initialize", "tools_call", "json-schema-2020-12-preservation", revisions=(OLD,)
    )
    assert outcomes(run) == {
        f"initialize {OLD}": Outcome.PASSED,
        f"json-schema-2020-12-preservation {OLD}": Outcome.NOT_APPLICABLE,
        f"tools_call {OLD}": Outcome.NOT_APPLICABLE,
    }


async def test_client_that_rewrites_its_address_is_not_judged_there() -> None:
    async def rewrites(setup: ClientSetup) -> ClientSetup:
        return replace(setup, url=f"{setup.url.removesuffix('/mcp')}/mcp")

    run = await judged(Limited(rewrites), "initialize", revisions=(OLD,))
    (cell,) = run.cells
    assert cell.outcome is Outcome.NOT_APPLICABLE and cell.reason.endswith("it requested /mcp")


async def test_client_that_refuses_a_capability_before_it_connects_is_still_judged() -> None:
    async def strict(setup: ClientSetup) -> ClientSetup | ClientExit:
        return ClientExit(UNABLE) if setup.context.get("capabilities") else setup

    run = await judged(Limited(strict), "core.open-house", "asking.roots", revisions=(OLD,))
    assert outcomes(run) == {
        f"asking.roots {OLD}": Outcome.NOT_APPLICABLE,
        f"core.open-house {OLD}": Outcome.PASSED,
    }


async def test_client_that_fails_before_it_connects_is_down() -> None:
    async def broken(setup: ClientSetup) -> ClientExit:
        stderr = b"Error [ERR_MODULE_NOT_FOUND]: no package 'x'\n  at a\n  code: 1\n}\n\nNode.js v20\n"
        return ClientExit(1, stderr=stderr)

    with pytest.raises(SubjectDown, match="ERR_MODULE_NOT_FOUND"):
        await judged(Limited(broken), "tools_call")


async def test_skipped_scenarios_are_left_out() -> None:
    run = await judged(Limited(without()), "tools_call", "jsonrpc", revisions=(OLD,), skipped=("jsonrpc.*",))
    assert set(outcomes(run)) == {f"tools_call {OLD}"}


async def test_fault_in_every_trace_counts_once() -> None:
    async def fail(setup: ClientSetup) -> ClientSetup:
        wrong = {"do": "call_tool", "name": "no-such-tool", "arguments": {}}
        steps = [*setup.context["steps"], wrong]
        return replace(setup, context={**setup.context, "steps": steps})

    run = await judged(
        Limited(fail), "jsonrpc.answers", "jsonrpc.unicode", "jsonrpc.dialects", revisions=(OLD,)
    )
    findings = [finding for cell in run.cells for check in cell.checks for finding in check.findings]
    assert [finding.requirement for finding in findings] == ["CLIENT-03"] * 3
    assert sorted(finding.follows_from for finding in findings) == ["", "CLIENT-03", "CLIENT-03"]


@pytest.mark.parametrize("name", SUITE.scenarios)
async def test_scenario_asks_for_nothing_that_its_server_does_not_declare(name: str) -> None:
    scenario = SUITE.scenarios[name]
    script = scenario.script
    assert script is not None
    places = [(transport, revision) for transport in sorted(scenario.transports) for revision in REVISIONS]
    transport, revision = next(place for place in reversed(places) if is_defined(SUITE, scenario, *place))
    recorder = Recorder(Header(revision.date, transport, "x", name, "now", role="client"), Redaction())
    stage = ClientStage(recorder, revision, transport, script.path)
    stage.context = script.context
    await stage.open()
    try:
        await scenario.drive(stage)
    finally:
        await stage.close()
    required = {DECLARED_BY[step] for step in needed(script) if step in DECLARED_BY}
    answers_nothing = name == "hostile.never-up"
    assert answers_nothing or required <= stage.server.capabilities.keys()


def test_unknown_ability_excludes_nothing() -> None:
    assert not [scenario.id for scenario in SUITE.scenarios.values() if unmet(scenario, Ability())]
