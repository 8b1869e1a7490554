"""What is wrong with a task, or with an answer about one, in words; nothing where all is well."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

ENDS: Final = ("completed", "failed", "cancelled")
UNDER_WAY: Final = ("working", "input_required")
STATUSES: Final = (*UNDER_WAY, *ENDS)
PAYLOADS: Final = ("result", "error", "inputRequests")
"""What comes with a status, and never with a task that was only just made."""
TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}")
Task = dict[str, Any]


def creation_faults(result: Task) -> Iterator[str]:
    """Of the answer that a call is given when it becomes a task."""
    if result.get("resultType") != "task":
        yield f"resultType {result.get('resultType')!r}"
    elif "task" in result:
        yield "the task is nested under `task`"
    else:
        yield from task_faults(result)
        yield from (f"`{key}`, which belongs to tasks/get" for key in PAYLOADS if key in result)


def task_faults(task: Task) -> Iterator[str]:
    """Of what every task tells of itself."""
    if not (isinstance(task.get("taskId"), str) and task["taskId"]):
        yield f"taskId {task.get('taskId')!r}"
    if task.get("status") not in STATUSES:
        yield f"status {task.get('status')!r}"
    for key in ("createdAt", "lastUpdatedAt"):
        if not (isinstance(task.get(key), str) and TIME.match(task[key])):
            yield f"{key} {task.get(key)!r}, which is no ISO 8601 time"


def duration_faults(task: Task) -> Iterator[str]:
    """Of the names and kinds of durations: whole milliseconds, said so in the name."""
    if "ttlMs" not in task:
        yield "no ttlMs"
    elif not (task["ttlMs"] is None or _is_duration(task["ttlMs"])):
        yield f"ttlMs {task['ttlMs']!r}"
    if "pollIntervalMs" in task and not _is_duration(task["pollIntervalMs"]):
        yield f"pollIntervalMs {task['pollIntervalMs']!r}"
    yield from (f"`{key}`, the name of an earlier revision" for key in ("ttl", "pollInterval") if key in task)


def _is_duration(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def acknowledgement_faults(result: Task) -> Iterator[str]:
    """Of the answer to tasks/update and tasks/cancel, which says nothing but that it was heard."""
    if result.get("resultType") != "complete":
        yield f"resultType {result.get('resultType')!r}"
    yield from (f"`{key}` in an acknowledgement" for key in ("taskId", "status", *PAYLOADS) if key in result)


def sync_faults(result: Task) -> Iterator[str]:
    """Of a call that was answered at once."""
    if result.get("resultType") != "complete":
        yield f"resultType {result.get('resultType')!r}"
    yield from (f"`{key}` in the result of a tool" for key in ("taskId", "task") if key in result)
    yield from content_faults(result)


def completion_faults(task: Task) -> Iterator[str]:
    """Of a task that ended well: the result of the call is in it."""
    if task.get("status") != "completed":
        yield f"status {task.get('status')!r}"
    if not isinstance(task.get("result"), dict):
        yield "no `result` object"
    else:
        yield from content_faults(task["result"])
    yield from (f"`{key}` in a completed task" for key in ("error", "inputRequests") if key in task)


def failure_faults(task: Task) -> Iterator[str]:
    """Of a task that ended with a JSON-RPC error: the error is in it, and no result."""
    if task.get("status") != "failed":
        yield f"status {task.get('status')!r}"
    error = task.get("error")
    if not isinstance(error, dict):
        yield "no `error` object"
    elif not (_is_code(error.get("code")) and isinstance(error.get("message"), str)):
        yield f"an error with code {error.get('code')!r} and message {error.get('message')!r}"
    yield from (f"`{key}` in a failed task" for key in ("result", "inputRequests") if key in task)


def _is_code(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def content_faults(result: Task) -> Iterator[str]:
    content = result.get("content")
    if not (isinstance(content, list) and content):
        yield f"content {content!r}"
