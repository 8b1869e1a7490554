"""How scenarios make tasks and follow them: at the server's pace, as long as the driver is patient."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from assay.lab.harness.driver.mirrored_header import as_header
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.stage import Stage

from .extension import TASKS
from .task_shape import ENDS, STATUSES
from .task_story import UNSETTLED

QUICKEST, SLOWEST, USUAL = 0.01, 1.0, 0.1
"""Seconds between two looks at a task: bounds of what the server suggests, and where it suggests nothing."""
GROWTH: Final = 1.3
"""How much longer each pause is than the one before: what takes long is looked at less often."""
DECLARED: Final[dict[str, Any]] = {"extensions": {TASKS: {}}}
"""The capabilities of a client that knows tasks."""
Wanted = Callable[[dict[str, Any]], bool]
"""Whether a task is as it was waited for."""


async def begin(stage: Stage, **capabilities: Any) -> Peer:
    """A conversation with a client that knows tasks; the first request shows that the server lets it in."""
    peer = await stage.open(**DECLARED, **capabilities)
    await peer.request("server/discover")
    return peer


async def call(peer: Peer, tool: str, *, meta: dict[str, Any] | None = None, **arguments: Any) -> Reply:
    """Call a fixture; `meta` in place of what the client usually declares."""
    return await peer.request(
        "tools/call", {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
    )


async def ask(peer: Peer, method: str, task: str, name: str | None = None, **params: Any) -> Reply:
    """A request about a task. On HTTP its id is in a header too; `name` puts another one there."""
    headers = {"Mcp-Name": as_header(task if name is None else name)}
    return await peer.request(method, {"taskId": task, **params}, headers=headers)


def task_of(reply: Reply) -> str | None:
    """The id of the task that a call became; none where it became none."""
    name = reply.result.get("taskId")
    return name if isinstance(name, str) and reply.result.get("resultType") == "task" else None


def wants_input(task: dict[str, Any]) -> bool:
    return task.get("status") == "input_required"


def wanted_keys(task: dict[str, Any]) -> list[str]:
    asked = task.get("inputRequests")
    return list(asked) if isinstance(asked, dict) else []


async def follow(peer: Peer, task: str, wanted: Wanted = lambda task: False) -> Reply:
    """Look at a task until it has ended or is as wanted; if that takes too long, a mark says so."""
    clock = asyncio.get_running_loop().time
    until = clock() + peer.patience
    pause = 0.0
    while True:
        reply = await ask(peer, "tasks/get", task)
        status = reply.result.get("status")
        if status in ENDS or status not in STATUSES or wanted(reply.result):
            return reply
        if clock() >= until:
            peer.mark(UNSETTLED, task=task, waited=peer.patience)
            return reply
        pause = _next_pause(pause, reply.result)
        await asyncio.sleep(pause)


def _next_pause(before: float, task: dict[str, Any]) -> float:
    """The server's wish within bounds: nobody waits a minute here."""
    wish = task.get("pollIntervalMs")
    seconds = wish / 1000 if isinstance(wish, int | float) and not isinstance(wish, bool) else USUAL
    return min(max(seconds, QUICKEST, before * GROWTH), SLOWEST)
