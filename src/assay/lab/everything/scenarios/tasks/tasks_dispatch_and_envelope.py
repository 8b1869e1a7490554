"""Methods that are gone, hints that mean nothing, and the kinds of results."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.extension import HAS_TASKS
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.tasking import ask, begin, call, follow, task_of, wants_input
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage

HINT = {"ttl": 60_000, "pollInterval": 100}


@official_scenario(
    "tasks-dispatch-and-envelope",
    "What is a task, what is none, and what has gone",
    needs=(HAS_TASKS, *map(fixture_tool, ("greet", "slow_compute", "failing_job", "confirm_delete"))),
)
async def drive(stage: Stage) -> None:
    peer = await begin(stage, elicitation={})
    await call(peer, "greet", name="World")
    await peer.request("tools/call", {"name": "greet", "arguments": {"name": "legacy"}, "task": HINT})
    await call(peer, "slow_compute", seconds=0, label="instant")
    await call(peer, "failing_job")
    task = task_of(await call(peer, "confirm_delete", filename="old.txt"))
    if task is not None:
        await ask(peer, "tasks/get", task)
        await _use(peer, task)
    await ask(peer, "tasks/get", "no-such-task")


async def _use(peer: Peer, task: str) -> None:
    """What has gone is asked about a task that is there."""
    await peer.request("tasks/result", {"taskId": task})
    await peer.request("tasks/list")
    await follow(peer, task, wants_input)
    await ask(peer, "tasks/update", task, inputResponses={"unknown-key": {"ignored": True}})
    await ask(peer, "tasks/get", task)
    await ask(peer, "tasks/cancel", task)
