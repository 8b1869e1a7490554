"""A task while it works and after it was cancelled."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.extension import HAS_TASKS
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.tasking import ask, begin, call, follow, task_of
from assay.lab.harness.driver.stage import Stage


@official_scenario(
    "tasks-request-state-removal",
    "Tasks carry no request state",
    needs=(HAS_TASKS, fixture_tool("slow_compute")),
)
async def drive(stage: Stage) -> None:
    peer = await begin(stage)
    task = task_of(await call(peer, "slow_compute", seconds=60, label="state"))
    if task is not None:
        await ask(peer, "tasks/get", task)
        await ask(peer, "tasks/cancel", task)
        await follow(peer, task)
