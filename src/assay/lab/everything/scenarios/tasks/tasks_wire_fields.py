"""A task to its end and a little beyond."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.extension import HAS_TASKS
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.tasking import ask, begin, call, follow, task_of
from assay.lab.harness.driver.stage import Stage


@official_scenario(
    "tasks-wire-fields",
    "The fields of a task, and how long it can be read",
    needs=(HAS_TASKS, fixture_tool("slow_compute")),
)
async def drive(stage: Stage) -> None:
    peer = await begin(stage)
    task = task_of(await call(peer, "slow_compute", seconds=1, label="fields"))
    if task is not None:
        await follow(peer, task)
        await ask(peer, "tasks/get", task)
