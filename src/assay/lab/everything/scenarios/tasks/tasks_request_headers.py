"""Requests whose headers say what their bodies say, and requests whose headers do not."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.extension import HAS_TASKS
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.tasking import ask, begin, call, task_of
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.transport import HTTP_ONLY


@official_scenario(
    "tasks-request-headers",
    "The routing headers of requests about tasks",
    needs=(HAS_TASKS, fixture_tool("greet"), fixture_tool("slow_compute")),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    peer = await begin(stage)
    await call(peer, "greet", name="World")
    params = {"name": "greet", "arguments": {"name": "World"}}
    await peer.request("tools/call", params, headers={"Mcp-Method": "tasks/get"})
    task = task_of(await call(peer, "slow_compute", seconds=60, label="headers"))
    if task is not None:
        await ask(peer, "tasks/get", task)
        await ask(peer, "tasks/get", task, name="another-task")
        await ask(peer, "tasks/cancel", task)
