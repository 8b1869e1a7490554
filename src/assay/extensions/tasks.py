"""Tasks as an extension: the server may answer a tool call with a task, which the client polls."""

from __future__ import annotations

from typing import Final

from assay.revisions.revision import Opening

from .extension import Extension

TASK_IDS: Final = "taskIds"
"""The field of the `subscriptions/listen` filter that names the tasks to follow."""

EXTENSION: Final = Extension(
    "io.modelcontextprotocol/tasks",
    requests=frozenset({"tasks/get", "tasks/update", "tasks/cancel"}),
    notifications=frozenset({"notifications/tasks"}),
    openings=frozenset({Opening.PER_REQUEST}),
    result_types=frozenset({"task"}),
    mirrored={"tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId"},
    topics=frozenset({TASK_IDS}),
)
