"""One scenario for one client, and a run of several."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.run.event import CellFinished, RunEvent
from assay.lab.harness.run.plan import Cell, Selection
from assay.lab.harness.run.run import CellResult
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.scripted_client.in_process import InProcessClient
from assay.lab.harness.scripted_server.client import Ended, Invitation
from assay.lab.harness.scripted_server.client_run import SETTING, TIMED_OUT, ClientRun, visit
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.runner import ClientOrder, ClientRunner, planned
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace import recorder
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Outcome
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE, PER_REQUEST

SUITE = suite_named("client")
OLD, NEW = HANDSHAKE[-1], PER_REQUEST[-1]
Behave = Callable[[Invitation], Awaitable[Ended]]


class Scripted:
    """A client that is a function."""

    name = "scripted"
    transport = Transport.HTTP

    def __init__(self, behave: Behave) -> None:
        self._behave = behave

    async def run(self, invitation: Invitation, limit: float) -> Ended:
        return await self._behave(invitation)


async def away(invitation: Invitation) -> Ended:
    return Ended(0)


def cell_of(name: str, suite: Suite = SUITE) -> Cell:
    return Cell(suite.scenarios[name], Transport.HTTP, OLD, Facts(OLD.date))


def broken_suite() -> Suite:
    """Its plain scenario has a handler of ours that fails."""

    async def drive(stage: ClientStage) -> None:
        @stage.host.on("initialize")
        async def fail(cycle: RequestCycle) -> Any:
            raise ValueError("ours")

    plain = msgspec.structs.replace(SUITE.scenarios["tools_call"], drive=drive)
    return msgspec.structs.replace(SUITE, scenarios={plain.id: plain})


async def test_client_is_invited_with_name_revision_and_steps() -> None:
    seen: list[Invitation] = []

    async def look(invitation: Invitation) -> Ended:
        seen.append(invitation)
        return Ended(0)

    visited = await visit(cell_of("tools_call"), Scripted(look), SUITE, 5.0)
    (invitation,) = seen
    assert (invitation.scenario, invitation.revision) == ("tools_call", OLD.date)
    assert invitation.url.startswith("http://localhost:") and invitation.server == ""
    assert [step["do"] for step in invitation.context["steps"]] == ["list_tools", "call_tool"]
    (setting,) = visited.trace.marks(SETTING)
    assert setting.info["context"] == invitation.context
    assert visited.trace.header.role == "client"


async def test_who_never_comes_breaks_the_scenario_off() -> None:
    visited = await visit(cell_of("tools_call"), Scripted(away), SUITE, 5.0)
    result = visited.result
    assert (result.outcome, result.reason) == (Outcome.INCOMPLETE, "the client never connected")
    assert result.broke_off


async def test_guest_that_does_all_passes() -> None:
    visited = await visit(cell_of("tools_call"), InProcessClient(), SUITE, 20.0)
    assert (visited.result.outcome, visited.result.reason) == (Outcome.PASSED, "")
    assert visited.trace.was_visited and visited.trace.header.closed
    (ended,) = [frame for frame in visited.trace.frames if frame.kind is Kind.EXIT]
    assert ended.info["status"] == 0


async def test_client_whose_time_was_over_fails_and_the_trace_says_so() -> None:
    async def stopped(invitation: Invitation) -> Ended:
        return Ended(None, stopped=True)

    visited = await visit(cell_of("tools_call"), Scripted(stopped), SUITE, 5.0)
    assert visited.result.outcome is Outcome.FAILED
    assert visited.result.reason == "the client had not ended after 5 s, and was stopped"
    assert not visited.trace.header.closed and list(visited.trace.marks(TIMED_OUT))


async def test_client_that_crashed_is_quoted() -> None:
    async def crash(invitation: Invitation) -> Ended:
        return Ended(1, stderr=b"Traceback\n  a\n\n  b\n" + b"NameError: name" + b"!" * 500 + b"\n")

    first, *quoted = (await visit(cell_of("tools_call"), Scripted(crash), SUITE, 5.0)).result.reason.split(
        "\n"
    )
    assert first == "the client never connected"
    assert quoted[:2] == ["  stderr:   a", "  stderr:   b"]
    assert quoted[2].startswith("  stderr: NameError: name!!!") and len(quoted[2]) < 250


@pytest.mark.parametrize("transport", [Transport.HTTP, Transport.STDIO, Transport.WEBSOCKET])
async def test_client_that_floods_the_host_breaks_the_scenario_off(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "MAX_FRAMES", 6)
    cell = Cell(SUITE.scenarios["core.open-house"], transport, OLD, Facts(OLD.date))
    visited = await visit(cell, InProcessClient(transport=transport), SUITE, 20.0)
    assert visited.result.broke_off and visited.result.outcome is not Outcome.PASSED
    assert visited.result.reason.startswith("the subject flooded the driver")


async def test_fault_of_the_host_ends_the_run() -> None:
    suite = broken_suite()
    with pytest.raises(ValueError, match="ours"):
        await visit(cell_of("tools_call", suite), InProcessClient(patience=5.0), suite, 20.0)
    runner = ClientRunner(
        ClientOrder(suite, Selection(revisions=(OLD,))), [InProcessClient(patience=5.0)], print, kept
    )
    with pytest.raises(ValueError, match="ours"):
        await runner.run()


def kept(visited: ClientRun) -> CellResult:
    return visited.result


def order(*scenarios: str, **options: Any) -> ClientOrder:
    return ClientOrder(SUITE, Selection(scenarios=scenarios), **options)


def places(given: ClientOrder, transport: Transport = Transport.HTTP) -> list[str]:
    return [f"{cell.scenario.id} {cell.revision} {cell.attempt}" for cell in planned(given, [transport])]


def test_client_is_tried_at_the_newest_revision_of_each_kind() -> None:
    assert places(order("tools_call")) == [f"tools_call {OLD} 1", f"tools_call {NEW} 1"]
    assert places(order("initialize")) == [f"initialize {OLD} 1"]
    assert places(order("tools_call", repeat=2))[:2] == [f"tools_call {OLD} 1", f"tools_call {OLD} 2"]


def test_scenario_of_old_is_tried_where_it_is_at_home() -> None:
    (place,) = places(order("auth/2025-03-26-oauth-metadata-backcompat"))
    assert HANDSHAKE[1].date in place


def test_what_was_bad_before_comes_first() -> None:
    plain = order("tools_call", "initialize")
    first = frozenset({planned(plain, [Transport.HTTP])[-1].place})
    again = ClientOrder(SUITE, Selection(scenarios=("tools_call", "initialize"), first=first))
    assert sorted(places(again)) == sorted(places(plain))
    assert places(again)[0] == places(plain)[-1]


async def test_results_are_told_in_the_order_of_the_plan_however_many_run_at_once() -> None:
    events: list[RunEvent] = []
    given = order("tools_call", "initialize", "core.open-house", jobs=4)
    run = await ClientRunner(given, [InProcessClient()], events.append, kept).run()
    told = [event.result for event in events if isinstance(event, CellFinished)]
    assert told == run.cells and len(told) == 5
    assert {cell.outcome for cell in told} == {Outcome.PASSED}


async def test_at_most_so_many_clients_are_there_at_once() -> None:
    here, all_here = 0, asyncio.Event()

    async def stay(invitation: Invitation) -> Ended:
        nonlocal here
        here += 1
        assert here <= 3
        if here == 3:
            all_here.set()
        async with asyncio.timeout(10):
            await all_here.wait()
        here -= 1
        return Ended(0)

    run = await ClientRunner(order("auth/*", jobs=3), [Scripted(stay)], lambda event: None, kept).run()
    assert len(run.cells) > 3


async def test_interrupted_run_keeps_what_is_known() -> None:
    came = asyncio.Event()

    async def stay(invitation: Invitation) -> Ended:
        if invitation.scenario == "initialize":
            return Ended(0)
        came.set()
        await asyncio.Event().wait()
        raise AssertionError

    given = order("initialize", "tools_call", jobs=1)
    running = asyncio.create_task(ClientRunner(given, [Scripted(stay)], lambda event: None, kept).run())
    async with asyncio.timeout(10):
        await came.wait()
    running.cancel()
    run = await running
    assert run.interrupted
    assert [cell.reason for cell in run.cells] == [
        "the client never connected",
        "interrupted",
        "interrupted",
    ]


async def test_client_that_cannot_be_started_ends_the_run() -> None:
    async def missing(invitation: Invitation) -> Ended:
        raise Unreachable("cannot run it")

    with pytest.raises(SubjectDown, match="cannot run it"):
        await ClientRunner(order("tools_call"), [Scripted(missing)], lambda event: None, kept).run()
