"""Tasks from their beginning to each of their ends."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.extension import HAS_TASKS
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.tasking import ask, begin, call, follow, task_of
from assay.lab.harness.driver.stage import Stage


@official_scenario(
    "tasks-lifecycle",
    "Tasks are made, watched, ended and cancelled",
    needs=(HAS_TASKS, *map(fixture_tool, ("greet", "slow_compute", "failing_job", "protocol_error_job"))),
)
async def drive(stage: Stage) -> None:
    peer = await begin(stage, elicitation={}, sampling={})
    await call(peer, "greet", name="World")
    quick = task_of(await call(peer, "slow_compute", seconds=1, label="quick"))
    if quick is not None:
        await ask(peer, "tasks/get", quick)
    failing = task_of(await call(peer, "failing_job"))
    broken = task_of(await call(peer, "protocol_error_job"))
    long = task_of(await call(peer, "slow_compute", seconds=60, label="long"))
    if long is not None:
        await ask(peer, "tasks/cancel", long)
    # All of them are under way by now, so that their seconds pass together.
    for task in filter(None, (quick, failing, broken, long)):
        await follow(peer, task)
    if quick is not None:
        await ask(peer, "tasks/cancel", quick)
