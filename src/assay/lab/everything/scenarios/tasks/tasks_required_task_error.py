"""A tool that is always a task, called with and without knowing tasks."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.extension import HAS_TASKS, UNDECLARED
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.tasking import ask, begin, call, task_of
from assay.lab.harness.driver.stage import Stage


@official_scenario(
    "tasks-required-task-error",
    "A tool that must be a task is refused to clients that know none",
    needs=(HAS_TASKS, fixture_tool("failing_job")),
)
async def drive(stage: Stage) -> None:
    peer = await begin(stage)
    task = task_of(await call(peer, "failing_job"))
    await call(peer, "failing_job", meta=UNDECLARED)
    if task is not None:
        await ask(peer, "tasks/cancel", task)
