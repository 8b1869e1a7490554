"""A scenario for one client, and runs of several scenarios."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.reason import ReasonKind
from assay.lab.harness.run.conclusion import Conclusion, conclude
from assay.lab.harness.run.event import CellFinished, RunEvent
from assay.lab.harness.run.plan import Cell, Selection
from assay.lab.harness.run.run import CellResult
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.scripted_client.in_process import InProcessClient
from assay.lab.harness.scripted_server.client import ClientExit, ClientSetup
from assay.lab.harness.scripted_server.client_run import SETTING, TIMED_OUT, ClientRun, run_client
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

pytestmark = pytest.mark.waits

SUITE = suite_named("client")
OLD, NEW = HANDSHAKE[-1], PER_REQUEST[-1]
Behave = Callable[[ClientSetup], Awaitable[ClientExit]]


class Scripted:
    """A client that is a function."""

    name = "scripted"
    transport = Transport.HTTP

    def __init__(self, behave: Behave) -> None:
        self._behave = behave

    async def run(self, setup: ClientSetup, limit: float) -> ClientExit:
        return await self._behave(setup)


async def exit_at_once(setup: ClientSetup) -> ClientExit:
    return ClientExit(0)


def cell_of(name: str, suite: Suite = SUITE) -> Cell:
    return Cell(suite.scenarios[name], Transport.HTTP, OLD, Facts(OLD.date))


def broken_suite() -> Suite:
    """A suite with a scenario whose handler raises."""

    async def drive(stage: ClientStage) -> None:
        @stage.server.on("initialize")
        async def fail(cycle: RequestCycle) -> Any:
            raise ValueError("ours")

    plain = msgspec.structs.replace(SUITE.scenarios["tools_call"], drive=drive)
    return msgspec.structs.replace(SUITE, scenarios={plain.id: plain})


async def test_client_gets_name_revision_and_steps() -> None:
    setups: list[ClientSetup] = []

    async def look(setup: ClientSetup) -> ClientExit:
        setups.append(setup)
        return ClientExit(0)

    run = await run_client(cell_of("tools_call"), Scripted(look), SUITE, 5.0)
    (setup,) = setups
    assert (setup.scenario, setup.revision) == ("tools_call", OLD.date)
    assert setup.url.startswith("http://localhost:") and setup.server == ""
    assert [step["do"] for step in setup.context["steps"]] == ["list_tools", "call_tool"]
    (setting,) = run.trace.marks(SETTING)
    assert setting.info["context"] == setup.context
    assert run.trace.header.role == "client"


async def test_client_that_never_connects_breaks_the_scenario_off() -> None:
    run = await run_client(cell_of("tools_call"), Scripted(exit_at_once), SUITE, 5.0)
    result = run.result
    assert (result.outcome, result.reason) == (Outcome.INCOMPLETE, "the client never connected")
    assert result.broke_off


async def test_scripted_client_passes() -> None:
    run = await run_client(cell_of("tools_call"), InProcessClient(), SUITE, 20.0)
    assert (run.result.outcome, run.result.reason) == (Outcome.PASSED, "")
    assert run.trace.client_connected and run.trace.header.closed
    (ended,) = [frame for frame in run.trace.frames if frame.kind is Kind.EXIT]
    assert ended.info["status"] == 0


async def test_client_that_timed_out_fails_and_the_trace_says_so() -> None:
    async def stopped(setup: ClientSetup) -> ClientExit:
        return ClientExit(None, stopped=True)

    run = await run_client(cell_of("tools_call"), Scripted(stopped), SUITE, 5.0)
    assert run.result.outcome is Outcome.FAILED
    assert run.result.reason == "the client had not ended after 5 s, and was stopped"
    assert not run.trace.header.closed and list(run.trace.marks(TIMED_OUT))


async def test_client_that_crashed_is_quoted() -> None:
    async def crash(setup: ClientSetup) -> ClientExit:
        return ClientExit(1, stderr=b"Traceback\n  a\n\n  b\n" + b"NameError: name" + b"!" * 500 + b"\n")

    run = await run_client(cell_of("tools_call"), Scripted(crash), SUITE, 5.0)
    first, *quoted = run.result.reason.split("\n")
    assert first == "the client never connected"
    assert quoted[:2] == ["  stderr:   a", "  stderr:   b"]
    assert quoted[2].startswith("  stderr: NameError: name!!!") and len(quoted[2]) < 250


@pytest.mark.parametrize("transport", [Transport.HTTP, Transport.STDIO, Transport.WEBSOCKET])
async def test_client_that_floods_the_server_breaks_the_scenario_off(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "MAX_FRAMES", 6)
    cell = Cell(SUITE.scenarios["core.open-house"], transport, OLD, Facts(OLD.date))
    run = await run_client(cell, InProcessClient(transport=transport, patience=1.0), SUITE, 20.0)
    assert run.result.broke_off and run.result.outcome is not Outcome.PASSED
    assert run.result.reason.startswith("the subject flooded the driver")


async def test_error_in_a_handler_ends_the_run() -> None:
    suite = broken_suite()
    with pytest.raises(ValueError, match="ours"):
        await run_client(cell_of("tools_call", suite), InProcessClient(patience=5.0), suite, 20.0)
    runner = ClientRunner(
        ClientOrder(suite, Selection(revisions=(OLD,))), [InProcessClient(patience=5.0)], print, store
    )
    with pytest.raises(ValueError, match="ours"):
        await runner.run()


def store(run: ClientRun) -> CellResult:
    return run.result


def order(*scenarios: str, **options: Any) -> ClientOrder:
    return ClientOrder(SUITE, Selection(scenarios=scenarios), **options)


def places(order: ClientOrder, transport: Transport = Transport.HTTP) -> list[str]:
    return [f"{cell.scenario.id} {cell.revision} {cell.attempt}" for cell in planned(order, [transport])]


def test_client_is_tried_at_the_newest_revision_of_each_kind() -> None:
    assert places(order("tools_call")) == [f"tools_call {OLD} 1", f"tools_call {NEW} 1"]
    assert places(order("initialize")) == [f"initialize {OLD} 1"]
    assert places(order("tools_call", repeat=2))[:2] == [f"tools_call {OLD} 1", f"tools_call {OLD} 2"]


def test_scenario_of_an_old_revision_runs_at_that_revision() -> None:
    (place,) = places(order("auth/2025-03-26-oauth-metadata-backcompat"))
    assert HANDSHAKE[1].date in place


def test_selected_cells_come_first() -> None:
    plain = order("tools_call", "initialize")
    first = frozenset({planned(plain, [Transport.HTTP])[-1].place})
    again = ClientOrder(SUITE, Selection(scenarios=("tools_call", "initialize"), first=first))
    assert sorted(places(again)) == sorted(places(plain))
    assert places(again)[0] == places(plain)[-1]


async def test_results_are_reported_in_the_order_of_the_plan() -> None:
    events: list[RunEvent] = []
    several = order("tools_call", "initialize", "core.open-house", jobs=4)
    run = await ClientRunner(several, [InProcessClient()], events.append, store).run()
    results = [event.result for event in events if isinstance(event, CellFinished)]
    assert results == run.cells and len(results) == 5
    assert {cell.outcome for cell in results} == {Outcome.PASSED}


async def test_number_of_concurrent_clients_is_limited() -> None:
    here, all_here = 0, asyncio.Event()

    async def stay(setup: ClientSetup) -> ClientExit:
        nonlocal here
        here += 1
        assert here <= 3
        if here == 3:
            all_here.set()
        async with asyncio.timeout(10):
            await all_here.wait()
        here -= 1
        return ClientExit(0)

    run = await ClientRunner(order("auth/*", jobs=3), [Scripted(stay)], lambda event: None, store).run()
    assert len(run.cells) > 3


async def test_interrupted_run_keeps_its_results() -> None:
    connected = asyncio.Event()

    async def stay(setup: ClientSetup) -> ClientExit:
        if setup.scenario == "initialize":
            return ClientExit(0)
        connected.set()
        await asyncio.Event().wait()
        raise AssertionError

    runner = ClientRunner(
        order("initialize", "tools_call", jobs=1), [Scripted(stay)], lambda event: None, store
    )
    running = asyncio.create_task(runner.run())
    async with asyncio.timeout(10):
        await connected.wait()
    running.cancel()
    run = await running
    assert run.interrupted
    assert [cell.reason for cell in run.cells] == [
        "the client never connected",
        "interrupted",
        "interrupted",
    ]


async def test_client_that_stays_for_ever_is_cut_off_at_the_deadline() -> None:
    async def stay(setup: ClientSetup) -> ClientExit:
        await asyncio.Event().wait()
        raise AssertionError

    short = msgspec.structs.replace(order("tools_call", jobs=1), deadline=0.05)
    async with asyncio.timeout(10):
        run = await ClientRunner(short, [Scripted(stay)], lambda event: None, store).run()
    assert run.expired and not run.interrupted
    assert {cell.reason_kind for cell in run.cells} == {ReasonKind.DEADLINE}
    assert conclude(run) is Conclusion.INCOMPLETE


async def test_client_that_cannot_be_started_ends_the_run() -> None:
    async def missing(setup: ClientSetup) -> ClientExit:
        raise Unreachable("cannot run it")

    with pytest.raises(SubjectDown, match="cannot run it"):
        await ClientRunner(order("tools_call"), [Scripted(missing)], lambda event: None, store).run()
