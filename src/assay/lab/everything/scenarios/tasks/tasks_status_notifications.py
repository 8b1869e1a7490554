"""A listener for a task, and one that does not know what tasks are."""

from __future__ import annotations

from typing import Any

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.extension import HAS_TASKS, UNDECLARED
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.task_shape import ENDS
from assay.lab.everything.tasking import ask, begin, call, task_of
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage
from assay.lab.suite.listening import ACKNOWLEDGED
from assay.lab.suite.subscription import LISTEN

TOLD = "notifications/tasks"


@official_scenario(
    "tasks-status-notifications",
    "Whoever listens for a task is told how it goes",
    needs=(HAS_TASKS, fixture_tool("slow_compute")),
)
async def drive(stage: Stage) -> None:
    peer = await begin(stage)
    task = task_of(await call(peer, "slow_compute", seconds=1, label="told"))
    if task is None:
        return
    wishes = {"taskIds": [task]}
    pending = await peer.start(LISTEN, {"notifications": wishes})
    heard = await peer.hear(ACKNOWLEDGED, during=pending)
    if heard is not None:
        if task in _granted(heard.params):
            await _hear_its_end(peer, task)
            await ask(peer, "tasks/get", task)
        refused = await peer.start(LISTEN, {"notifications": wishes, "_meta": UNDECLARED})
        await peer.hear(ACKNOWLEDGED, during=refused)


async def _hear_its_end(peer: Peer, task: str) -> None:
    """Each notification is waited for, up to one that tells of an end; a mark is left if none comes."""
    told = await peer.hear(TOLD, taskId=task)
    while told is not None and told.params.get("status") not in ENDS:
        told = await peer.hear(TOLD, taskId=task)


def _granted(params: dict[str, Any]) -> list[Any]:
    granted = params.get("notifications")
    names = granted.get("taskIds") if isinstance(granted, dict) else None
    return names if isinstance(names, list) else []
