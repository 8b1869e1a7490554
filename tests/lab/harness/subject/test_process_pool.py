"""Processes are reused only if a scenario left them unchanged, and only for passing outcomes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.run.runner import Runner, RunSettings
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.process_pool import CONTINUED, MOST, is_unchanged
from assay.lab.harness.subject.subject import CommandSubject
from assay.lab.harness.trace.trace import Trace
from assay.lab.suites import protocol_suite
from assay.revisions.registry import HANDSHAKE, REVISIONS
from tests.driving.warm_python import warm_python
from tests.lab.traces import request, result, stdio_trace

NEWEST = HANDSHAKE[-1]
# Writes a letter to a file for each process. `fault` names the misbehaviour.
SERVER = """
import json, pathlib, select, sys
fault, starts = sys.argv[1:]
ended = pathlib.Path(starts).with_name("ended")
with open(starts, "a") as file:
    file.write("x")
asked = 0
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    asked += 1
    results = {
        "initialize": {
            "protocolVersion": message.get("params", {}).get("protocolVersion"),
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "a", "version": "1"},
        },
        "ping": {},
        "tools/list": {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]},
    }
    if fault == "tires" and asked > 4:
        results["tools/list"] = {"tools": "again?"}
    result = results.get(message["method"])
    answer = {"error": {"code": -32601, "message": "no"}} if result is None else {"result": result}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
    if str(message["id"]).startswith("sentinel"):
        if fault == "dies":
            # Only after the scenario: to exit during one is a finding.
            while not ended.exists() and not select.select([sys.stdin], [], [], 0.01)[0]:
                pass
            ended.unlink(missing_ok=True)
            sys.exit()
        if fault == "mumbles":
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}), flush=True)
"""
SCENARIOS = ("jsonrpc-unknown-method", "lifecycle-ping", "tools-definitions")


class Lab:
    def __init__(self, home: Path) -> None:
        self._home = home
        self.traces: dict[str, Trace] = {}

    @property
    def processes(self) -> int:
        """Number of processes started, without the one for discovery."""
        return len((self._home / "starts").read_text("utf-8")) - 1

    async def run(self, fault: str, scenarios: Sequence[str] = SCENARIOS, **options: Any) -> Run:
        path = self._home / "server.py"
        path.write_text(SERVER, "utf-8")
        subject = CommandSubject([warm_python(), str(path), fault, str(self._home / "starts")])
        order = RunSettings(
            protocol_suite(), Selection(tuple(scenarios), revisions=(NEWEST,)), jobs=1, **options
        )
        return await Runner(order, [subject], lambda event: None, self._keep).run()

    def _keep(self, cell: CellResult, trace: Trace) -> CellResult:
        self.traces[cell.scenario] = trace
        (self._home / "ended").touch()
        return cell


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def outcomes(run: Run) -> set[str]:
    return {cell.outcome for cell in run.cells}


async def test_scenarios_that_only_read_share_a_process(lab: Lab) -> None:
    run = await lab.run("none")
    assert outcomes(run) == {"passed"}
    assert lab.processes == 1
    last = lab.traces["tools.definitions"]
    (mark,) = last.marks(CONTINUED)
    assert mark.info["after"] == ("jsonrpc.unknown-method", "lifecycle.ping")
    # The handshake is in every trace, with times before its start.
    assert [exchange.method for exchange in last.exchanges()][:2] == ["initialize", "tools/list"]
    assert last.frames[0].t < 0 < last.frames[-1].t
    assert [frame.n for frame in last.frames] == list(range(len(last.frames)))


async def test_sharing_can_be_disabled(lab: Lab) -> None:
    run = await lab.run("none", shared=False)
    assert outcomes(run) == {"passed"}
    assert lab.processes == 3
    assert not any(list(trace.marks(CONTINUED)) for trace in lab.traces.values())


async def test_scenario_that_fails_on_a_shared_process_is_run_again_on_a_fresh_one(lab: Lab) -> None:
    run = await lab.run("tires", ["lifecycle-ping", "tools-definitions"])
    assert outcomes(run) == {"passed"}
    assert lab.processes == 2
    assert not list(lab.traces["tools.definitions"].marks(CONTINUED))


async def test_id_is_not_used_twice_in_one_conversation(lab: Lab) -> None:
    run = await lab.run("none", ["lifecycle-ping"], repeat=2)
    assert outcomes(run) == {"passed"}
    assert lab.processes == 2


async def test_process_that_exited_in_the_meantime_is_not_reused(lab: Lab) -> None:
    run = await lab.run("dies")
    assert outcomes(run) == {"passed"}
    assert lab.processes == 3


async def test_process_that_sends_notifications_does_no_harm(lab: Lab) -> None:
    assert outcomes(await lab.run("mumbles")) == {"passed"}


async def test_process_is_not_reused_after_a_scenario_with_effects(lab: Lab) -> None:
    await lab.run("none", ["jsonrpc-notifications", "jsonrpc-unknown-method"])
    assert lab.processes == 2


def test_pool_has_room_for_every_revision() -> None:
    assert len(REVISIONS) <= MOST


class StubPeer:
    """The part of a peer that the rule reads."""

    name = "1"

    def remembers(self, request_id: Any) -> bool:
        return request_id in (1, 2, 3, "sentinel-1")


FACTS = Facts(NEWEST.date, tools=[{"name": "look", "annotations": {"readOnlyHint": True}}])
READ = [(">", request(1, "tools/list")), ("<", result(1, tools=[]))]
REFUSAL = {"jsonrpc": "2.0", "id": 2, "error": {"code": -32601, "message": "no"}}


@pytest.mark.parametrize(
    "turns",
    [
        READ,
        [*READ, (">", request("sentinel-1", "ping")), ("<", result("sentinel-1"))],
        [*READ, (">", {"jsonrpc": "2.0", "method": "notifications/initialized"})],
        [*READ, (">", request(2, "tools/call", name="look")), ("<", result(2, content=[]))],
        [*READ, (">", request(2, "logging/setLevel", level="x")), ("<", REFUSAL)],
    ],
)
def test_reads_and_errors_change_nothing(turns: list[tuple[str, Any]]) -> None:
    assert is_unchanged(stdio_trace(*turns), StubPeer(), FACTS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "turns",
    [
        [*READ, (">", request(2, "tools/list"))],
        [*READ, (">", request(2, "tools/call", name="write")), ("<", result(2, content=[]))],
        [*READ, (">", request(2, "logging/setLevel", level="info")), ("<", result(2))],
        [*READ, (">", {"jsonrpc": "2.0", "method": "notifications/cancelled"})],
        [*READ, (">", b"no json\n")],
        [*READ, (">", [request(2, "ping")]), ("<", [result(2)])],
        [*READ, (">", request("text", "ping")), ("<", result("text"))],
        [*READ, (">", request(4711, "ping")), ("<", result(4711))],
        [*READ, ("<", result(1))],
        [*READ, ("<", {"jsonrpc": "2.0", "method": "notifications/message", "params": {}})],
    ],
)
def test_anything_else_may_have_changed_something(turns: list[tuple[str, Any]]) -> None:
    assert not is_unchanged(stdio_trace(*turns), StubPeer(), FACTS)  # type: ignore[arg-type]
