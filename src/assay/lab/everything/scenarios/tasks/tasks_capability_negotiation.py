"""The same requests, of clients that know tasks and of clients that do not."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.extension import HAS_TASKS, UNDECLARED
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.tasking import DECLARED, ask, call, task_of
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.driver.stage import Stage


@official_scenario(
    "tasks-capability-negotiation",
    "Tasks are for requests that declare the extension",
    needs=(HAS_TASKS, fixture_tool("slow_compute")),
)
async def drive(stage: Stage) -> None:
    knowing = {CAPABILITIES_KEY: DECLARED}
    peer = await stage.open()
    await peer.request("server/discover")
    await peer.request("server/discover", {"_meta": knowing})
    task = task_of(await call(peer, "slow_compute", seconds=60, label="declared", meta=knowing))
    await call(peer, "slow_compute", seconds=0, label="undeclared")
    if task is None:
        return
    # The task is there: so that it does not exist is no reason to refuse.
    await ask(peer, "tasks/get", task, _meta=knowing)
    await ask(peer, "tasks/get", task, _meta=UNDECLARED)
    await ask(peer, "tasks/update", task, _meta=UNDECLARED, inputResponses={})
    await ask(peer, "tasks/cancel", task, _meta=UNDECLARED)
    await ask(peer, "tasks/cancel", task, _meta=knowing)
