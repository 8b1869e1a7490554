"""Runs against scripted subjects: in order, in parallel, interrupted, repeated."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.lab.harness.reason import ReasonKind
from assay.lab.harness.run.conclusion import Conclusion, conclude
from assay.lab.harness.run.ending import DEADLINE
from assay.lab.harness.run.event import (
    CellFinished,
    CellsPlanned,
    CellStarted,
    RunEvent,
    RunFinished,
    SubjectKnown,
)
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import CellResult
from assay.lab.harness.run.runner import Runner, RunSettings, SubjectDown
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.subject.subject import CommandSubject, UrlSubject, served
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Outcome
from assay.lab.suites import protocol_suite
from assay.revisions.registry import HANDSHAKE
from tests.driving.warm_python import warm_python

pytestmark = pytest.mark.waits

SLOW = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        version = message["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    elif str(message.get("id", "")).startswith("sentinel"):
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}), flush=True)
"""


def store(result: CellResult, trace: Trace) -> CellResult:
    return result


def settings(*scenarios: str, **options: Any) -> RunSettings:
    return RunSettings(protocol_suite(), Selection(scenarios=scenarios), **options)


async def test_parallel_results_come_in_the_order_of_the_plan() -> None:
    events: list[RunEvent] = []
    subject = served("everything", Transport.HTTP)
    runner = Runner(settings("lifecycle-*", "tools-*", jobs=6), [subject], events.append, store)
    run = await runner.run()
    results = [event.result for event in events if isinstance(event, CellFinished)]
    assert results == run.cells
    assert [cell.scenario for cell in results] == sorted(cell.scenario for cell in results)
    kinds = [type(event) for event in events]
    assert kinds.index(SubjectKnown) < kinds.index(CellsPlanned) < kinds.index(CellStarted)
    assert kinds[-1] is RunFinished


async def test_every_attempt_of_a_repeated_scenario_is_stored() -> None:
    subject = served("everything", Transport.HTTP)
    run = await Runner(settings("ping", repeat=3), [subject], lambda event: None, store).run()
    assert [cell.attempt for cell in run.cells] == [1, 2, 3] * len(HANDSHAKE)
    assert run.flaky == []


async def test_interrupted_run_keeps_its_results(tmp_path: Path) -> None:
    path = tmp_path / "slow.py"
    path.write_text(SLOW, "utf-8")
    waiting = asyncio.Event()

    def watch(event: RunEvent) -> None:
        if isinstance(event, CellStarted):
            waiting.set()

    conditions = Conditions(patience=60.0)
    subject = CommandSubject([warm_python(), str(path)])
    selection = Selection(("jsonrpc-unknown-method",), revisions=(HANDSHAKE[-1],))
    runner = Runner(RunSettings(protocol_suite(), selection, conditions, jobs=2), [subject], watch, store)
    task = asyncio.create_task(runner.run())
    async with asyncio.timeout(20):
        await waiting.wait()
        task.cancel()
        run = await task
    assert run.interrupted
    assert [(cell.outcome, cell.reason) for cell in run.cells] == [("incomplete", "interrupted")]


async def test_unreachable_subject_is_down() -> None:
    subject = UrlSubject("http://127.0.0.1:9/mcp")
    with pytest.raises(SubjectDown, match="Connection refused"):
        await Runner(settings(), [subject], lambda event: None, store).run()


async def test_command_that_never_listens_is_down_with_its_standard_error() -> None:
    command = [warm_python(), "-c", "import sys; sys.exit('no port for me')"]
    subject = UrlSubject("http://127.0.0.1:9/mcp", command=command)
    with pytest.raises(SubjectDown, match=r"exited with status 1\n  stderr: no port for me"):
        await Runner(settings(), [subject], lambda event: None, store).run()


async def test_scenario_with_effects_on_a_shared_server_runs_exclusively() -> None:
    suite, running, concurrent = protocol_suite(), set(), []

    def counting(scenario: Scenario) -> Scenario:
        async def drive(stage: Any) -> None:
            running.add(scenario.id)
            concurrent.append((scenario.effects, len(running)))
            try:
                await scenario.drive(stage)
            finally:
                running.discard(scenario.id)

        return msgspec.structs.replace(scenario, drive=drive)

    scenarios = {name: counting(scenario) for name, scenario in suite.scenarios.items()}
    watched = msgspec.structs.replace(suite, scenarios=scenarios)
    counts = {}
    for effects in (False, True):
        concurrent.clear()
        selection = Selection(scenarios=("tools.*",), revisions=(HANDSHAKE[-1],), effects=effects)
        subject = served("reference", Transport.HTTP)
        await Runner(
            RunSettings(watched, selection, jobs=6, arguments={"long_task": [{"seconds": 0.1}]}),
            [subject],
            lambda event: None,
            store,
        ).run()
        counts[effects] = max(count for _, count in concurrent)

    assert counts[False] > 1
    assert counts[True] == 1, "any scenario may call a tool that changes something"


DRIBBLING = (
    SLOW
    + """
    elif "id" in message:
        import threading
        while not threading.Event().wait(0.01):
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message"}), flush=True)
"""
)
FOR_EVER = Conditions(patience=1e6, limit=1e6)


def let_time_pass(seconds: float) -> None:
    """Everything that was to happen within these seconds happens now."""
    loop = asyncio.get_running_loop()
    real = loop.time
    loop.time = lambda: real() + seconds  # type: ignore[method-assign]


async def test_subject_that_dribbles_for_ever_is_cut_off_at_the_deadline(tmp_path: Path) -> None:
    path = tmp_path / "dribbling.py"
    path.write_text(DRIBBLING, "utf-8")
    subject = CommandSubject([warm_python(), str(path)])
    selection = Selection(("jsonrpc-unknown-method", "ping"), revisions=(HANDSHAKE[-1],))

    def watch(event: RunEvent) -> None:
        if isinstance(event, CellStarted):
            let_time_pass(DEADLINE)

    async with asyncio.timeout(DEADLINE + 20):
        run = await Runner(RunSettings(protocol_suite(), selection, FOR_EVER), [subject], watch, store).run()
    assert run.expired and not run.interrupted
    assert conclude(run) is Conclusion.INCOMPLETE
    assert [(cell.outcome, cell.reason_kind, cell.broke_off) for cell in run.cells] == [
        (Outcome.INCOMPLETE, ReasonKind.DEADLINE, True)
    ] * 2


async def test_what_was_judged_before_the_deadline_stays() -> None:
    def endless(scenario: Scenario) -> Scenario:
        async def drive(stage: Any) -> None:
            let_time_pass(DEADLINE)
            await asyncio.Event().wait()

        return msgspec.structs.replace(scenario, drive=drive)

    suite, last = protocol_suite(), "tools.unknown-name"
    suite = msgspec.structs.replace(
        suite, scenarios={**suite.scenarios, last: endless(suite.scenarios[last])}
    )
    selection = Selection(("ping", last), revisions=(HANDSHAKE[-1],))
    order = RunSettings(suite, selection, FOR_EVER)
    traces: list[str] = []

    def keep(result: CellResult, trace: Trace) -> CellResult:
        traces.append(result.scenario)
        return result

    run = await Runner(order, [served("everything", Transport.HTTP)], lambda event: None, keep).run()
    outcomes = {cell.scenario: cell.outcome for cell in run.cells}
    assert outcomes == {"lifecycle.ping": Outcome.PASSED, last: Outcome.INCOMPLETE}
    assert traces == ["lifecycle.ping"]


async def test_deadline_during_discovery_ends_the_run_without_scenarios(tmp_path: Path) -> None:
    path = tmp_path / "silent.py"
    path.write_text("import sys\nfor line in sys.stdin: pass\n", "utf-8")
    subject = CommandSubject([warm_python(), str(path)])
    order = RunSettings(protocol_suite(), Selection(), FOR_EVER, deadline=0.1)
    run = await Runner(order, [subject], lambda event: None, store).run()
    assert (run.expired, run.cells) == (True, [])
    assert run.problem == "the deadline of the run passed, 0.1 s: a longer one is set with --deadline"
