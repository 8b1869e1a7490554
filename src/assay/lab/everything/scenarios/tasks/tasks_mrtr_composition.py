"""A tool that asks first and becomes a task then."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.extension import HAS_TASKS
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.tasking import begin, call, follow, task_of, wanted_keys
from assay.lab.harness.driver.stage import Stage

TOOL = "test_tool_with_task"


@official_scenario(
    "tasks-mrtr-composition",
    "Questions come before the task, and their answers reach it",
    needs=(HAS_TASKS, fixture_tool(TOOL)),
)
async def drive(stage: Stage) -> None:
    peer = await begin(stage, elicitation={})
    asked = (await call(peer, TOOL)).result
    keys = wanted_keys(asked)
    if not keys:
        return
    accepted = {"action": "accept", "content": {"name": "Alice"}}
    state = {"requestState": asked["requestState"]} if "requestState" in asked else {}
    params = {"name": TOOL, "arguments": {}, "inputResponses": {keys[0]: accepted}, **state}
    task = task_of(await peer.request("tools/call", params))
    if task is not None:
        await follow(peer, task)
