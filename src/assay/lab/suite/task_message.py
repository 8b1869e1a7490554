"""Tasks of the extension on the wire: their fields, and how a driver polls them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from assay.lab.harness.driver.message_meta import as_header
from assay.lab.harness.driver.peer import Peer, Reply

FINAL: Final = ("completed", "failed", "cancelled")
UNDER_WAY: Final = ("working", "input_required")
STATUSES: Final = (*UNDER_WAY, *FINAL)
PAYLOADS: Final = ("result", "error", "inputRequests")
"""Fields that come with a status, and never with a new task."""
TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}")
Task = dict[str, Any]


def creation_faults(result: Task) -> Iterator[str]:
    """Of the reply to a call that becomes a task."""
    if result.get("resultType") != "task":
        yield f"resultType {result.get('resultType')!r}"
    elif "task" in result:
        yield "the task is nested under `task`"
    else:
        yield from task_faults(result)
        yield from (f"`{key}`, which belongs to tasks/get" for key in PAYLOADS if key in result)


def task_faults(task: Task) -> Iterator[str]:
    """Of the fields that every task has."""
    if not (isinstance(task.get("taskId"), str) and task["taskId"]):
        yield f"taskId {task.get('taskId')!r}"
    if task.get("status") not in STATUSES:
        yield f"status {task.get('status')!r}"
    for key in ("createdAt", "lastUpdatedAt"):
        if not (isinstance(task.get(key), str) and TIME.match(task[key])):
            yield f"{key} {task.get(key)!r}, which is not an ISO 8601 time"


def duration_faults(task: Task) -> Iterator[str]:
    """Of durations: whole milliseconds, as their names say."""
    if "ttlMs" not in task:
        yield "no ttlMs"
    elif not (task["ttlMs"] is None or (is_integer(task["ttlMs"]) and task["ttlMs"] > 0)):
        yield f"ttlMs {task['ttlMs']!r}"
    interval = task.get("pollIntervalMs", 1)
    if not (is_integer(interval) and interval > 0):
        yield f"pollIntervalMs {interval!r}"
    yield from (f"`{key}`, the name of an earlier revision" for key in ("ttl", "pollInterval") if key in task)


def is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def acknowledgement_faults(result: Task) -> Iterator[str]:
    """Of the reply to tasks/update and tasks/cancel, which only acknowledges the request."""
    yield from _incomplete(result)
    yield from (f"`{key}` in an acknowledgement" for key in ("taskId", "status", *PAYLOADS) if key in result)


def sync_faults(result: Task) -> Iterator[str]:
    """Of a call that is answered at once."""
    yield from _incomplete(result)
    yield from (f"`{key}` in the result of a tool" for key in ("taskId", "task") if key in result)
    yield from content_faults(result)


def _incomplete(result: Task) -> Iterator[str]:
    if result.get("resultType") != "complete":
        yield f"resultType {result.get('resultType')!r}"


def completion_faults(task: Task) -> Iterator[str]:
    """Of a completed task: it contains the result of the call."""
    if task.get("status") != "completed":
        yield f"status {task.get('status')!r}"
    if not isinstance(task.get("result"), dict):
        yield "no `result` object"
    else:
        yield from content_faults(task["result"])
    yield from (f"`{key}` in a completed task" for key in ("error", "inputRequests") if key in task)


def failure_faults(task: Task) -> Iterator[str]:
    """Of a task that ended with a JSON-RPC error: it contains the error, and no result."""
    if task.get("status") != "failed":
        yield f"status {task.get('status')!r}"
    error = task.get("error")
    if not isinstance(error, dict):
        yield "no `error` object"
    elif not (is_integer(error.get("code")) and isinstance(error.get("message"), str)):
        yield f"an error with code {error.get('code')!r} and message {error.get('message')!r}"
    yield from (f"`{key}` in a failed task" for key in ("result", "inputRequests") if key in task)


def content_faults(result: Task) -> Iterator[str]:
    content = result.get("content")
    if not (isinstance(content, list) and content):
        yield f"content {content!r}"


UNSETTLED: Final = "task not settled"
"""The mark of a task for which the driver waited in vain."""


SHORTEST, LONGEST, USUAL = 0.01, 1.0, 0.1
"""Seconds between two polls: bounds for the suggestion of the server, and the default."""
GROWTH: Final = 1.3
"""Factor from one pause to the next, so that long tasks are polled less often."""


async def send_about(peer: Peer, method: str, task: str, name: str | None = None, **params: Any) -> Reply:
    """A request about a task. On HTTP, a header repeats the task's id, or has this `name`."""
    headers = {"Mcp-Name": as_header(task if name is None else name)}
    return await peer.request(method, {"taskId": task, **params}, headers=headers)


def task_of(reply: Reply) -> str | None:
    """The id of the task that a call became, if it did."""
    name = reply.result.get("taskId")
    return name if isinstance(name, str) and reply.result.get("resultType") == "task" else None


def wants_input(task: Task) -> bool:
    return task.get("status") == "input_required"


def input_keys(task: Task) -> list[str]:
    requests = task.get("inputRequests")
    return list(requests) if isinstance(requests, dict) else []


async def poll(peer: Peer, task: str, until: Callable[[Task], bool] = lambda task: False) -> Reply:
    """Poll a task until it has ended or meets a condition; a mark records that this took too long."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + peer.patience
    pause = 0.0
    while True:
        reply = await send_about(peer, "tasks/get", task)
        status = reply.result.get("status")
        if status in FINAL or status not in STATUSES or until(reply.result):
            return reply
        if clock() >= deadline:
            peer.mark(UNSETTLED, task=task, waited=peer.patience)
            return reply
        pause = _next_pause(pause, reply.result)
        await asyncio.sleep(pause)


def _next_pause(before: float, task: Task) -> float:
    interval = task.get("pollIntervalMs")
    is_number = isinstance(interval, int | float) and not isinstance(interval, bool)
    seconds = float(interval or 0) / 1000 if is_number else USUAL
    return min(max(seconds, SHORTEST, before * GROWTH), LONGEST)
