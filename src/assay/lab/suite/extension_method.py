"""The methods that a server has besides those of the revision: by extensions, and by tasks in the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from assay.lab.harness import Trace
from assay.lab.harness.trace.listing import declaration
from assay.revisions.revision import TaskForm

TASKS: Final = "io.modelcontextprotocol/tasks"
SKILLS: Final = "io.modelcontextprotocol/skills"
METHODS: Final[Mapping[str, frozenset[str]]] = {
    SKILLS: frozenset({"skills/list", "skills/get", "resources/directory/read"}),
}
TASK_METHODS: Final[Mapping[TaskForm, frozenset[str]]] = {
    TaskForm.ABSENT: frozenset(),
    TaskForm.CORE: frozenset({"tasks/get", "tasks/result", "tasks/list", "tasks/cancel"}),
    TaskForm.EXTENSION: frozenset({"tasks/get", "tasks/update", "tasks/cancel"}),
}


def methods_of_extensions(trace: Trace) -> frozenset[str]:
    """The methods that the server has by what it declares."""
    declared = declaration(trace)
    if declared is None:
        return frozenset()
    form = trace.revision.tasks
    has_tasks = declared.has("tasks") if form is TaskForm.CORE else declared.has("extensions", TASKS)
    added = TASK_METHODS[form] if has_tasks else frozenset[str]()
    return added.union(*(methods for name, methods in METHODS.items() if declared.has("extensions", name)))
