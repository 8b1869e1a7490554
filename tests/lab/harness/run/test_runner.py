"""A run: in order, in parallel, interrupted, repeated; on subjects that are scripts."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

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
from assay.lab.harness.run.runner import Runner, RunOrder, SubjectDown
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.subject.subject import CommandSubject, UrlSubject, served
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.suites import protocol_suite
from assay.revisions.registry import HANDSHAKE

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


def keep(result: CellResult, trace: Trace) -> CellResult:
    return result


def order(*scenarios: str, **options: Any) -> RunOrder:
    return RunOrder(protocol_suite(), Selection(scenarios=scenarios), **options)


async def test_results_come_in_the_order_of_the_plan_however_many_run_at_once() -> None:
    events: list[RunEvent] = []
    runner = Runner(
        order("lifecycle-*", "tools-*", jobs=6), [served("everything", Transport.HTTP)], events.append, keep
    )
    run = await runner.run()
    told = [event.result for event in events if isinstance(event, CellFinished)]
    assert told == run.cells
    assert [cell.scenario for cell in told] == sorted(cell.scenario for cell in told)
    kinds = [type(event) for event in events]
    assert kinds.index(SubjectKnown) < kinds.index(CellsPlanned) < kinds.index(CellStarted)
    assert kinds[-1] is RunFinished


async def test_every_attempt_of_a_repeated_scenario_is_kept() -> None:
    runner = Runner(order("ping", repeat=3), [served("everything", Transport.HTTP)], lambda event: None, keep)
    run = await runner.run()
    assert [cell.attempt for cell in run.cells] == [1, 2, 3] * len(HANDSHAKE)
    assert run.flaky == []


async def test_interrupted_run_keeps_what_is_known(tmp_path: Path) -> None:
    path = tmp_path / "slow.py"
    path.write_text(SLOW, "utf-8")
    waiting = asyncio.Event()

    def watch(event: RunEvent) -> None:
        if isinstance(event, CellStarted):
            waiting.set()

    conditions = Conditions(patience=60.0)
    subject = CommandSubject([sys.executable, str(path)])
    order_ = RunOrder(
        protocol_suite(),
        Selection(("jsonrpc-unknown-method",), revisions=(HANDSHAKE[-1],)),
        conditions,
        jobs=2,
    )
    task = asyncio.create_task(Runner(order_, [subject], watch, keep).run())
    async with asyncio.timeout(20):
        await waiting.wait()
        task.cancel()
        run = await task
    assert run.interrupted
    assert [(cell.outcome, cell.reason) for cell in run.cells] == [("incomplete", "interrupted")]


async def test_subject_that_is_not_there_is_down() -> None:
    subject = UrlSubject("http://127.0.0.1:9/mcp")
    with pytest.raises(SubjectDown, match="Connection refused"):
        await Runner(order(), [subject], lambda event: None, keep).run()


async def test_command_that_never_listens_is_down_with_its_last_words() -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no port for me')"]
    subject = UrlSubject("http://127.0.0.1:9/mcp", command=command)
    with pytest.raises(SubjectDown, match=r"exited with status 1\n  stderr: no port for me"):
        await Runner(order(), [subject], lambda event: None, keep).run()


async def test_scenario_that_may_change_a_shared_server_is_played_alone() -> None:
    suite, running, beside = protocol_suite(), set(), []

    def noted(one: Scenario) -> Scenario:
        async def drive(stage: Any) -> None:
            running.add(one.id)
            beside.append((one.effects, len(running)))
            try:
                await one.drive(stage)
            finally:
                running.discard(one.id)

        return msgspec.structs.replace(one, drive=drive)

    scenarios = {name: noted(one) for name, one in suite.scenarios.items()}
    watched = msgspec.structs.replace(suite, scenarios=scenarios)
    selection = Selection(scenarios=("tools.*",), revisions=(HANDSHAKE[-1],), effects=True)
    subject = served("reference", Transport.HTTP)
    await Runner(RunOrder(watched, selection, jobs=6), [subject], lambda event: None, keep).run()

    changing = [count for effects, count in beside if effects]
    assert set(changing) == {1}
    assert max(count for effects, count in beside if not effects) > 1
