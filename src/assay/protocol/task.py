"""Tasks: how their states follow each other, how the two forms differ, and how they look on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY
from assay.model.task import Status, TaskRecord
from assay.revisions.revision import TaskForm

from .declaration import PREFIX

RELATED: Final = f"{PREFIX}related-task"
"""The key in `_meta` that names the task which a message belongs to."""

TRANSITIONS: Final[Mapping[Status, frozenset[Status]]] = {
    Status.WORKING: frozenset({Status.INPUT_REQUIRED, Status.COMPLETED, Status.FAILED, Status.CANCELLED}),
    Status.INPUT_REQUIRED: frozenset({Status.WORKING, Status.COMPLETED, Status.FAILED, Status.CANCELLED}),
    Status.COMPLETED: frozenset(),
    Status.FAILED: frozenset(),
    Status.CANCELLED: frozenset(),
}
"""The states that may follow each state. A task begins as `working`."""

TERMINAL: Final = frozenset(status for status, following in TRANSITIONS.items() if not following)


class Rules(NamedTuple):
    """How one form of tasks differs from the other."""

    ttl: str
    """The field with the milliseconds that a task is kept."""
    poll_interval: str
    task_needed: int
    """The error code for a call of a tool that runs only as a task."""
    task_refused: int | None
    """The error code for a call that asks for a task, of a tool that never runs as one; None if the call is
    served as usual."""
    cancel_finished: int | None
    """The error code for the cancellation of a finished task; None if it is acknowledged."""
    tool_error: Status
    """The final state of a task whose tool reports an error in its result."""
    sends_progress: bool
    """Whether progress and log messages of a task are sent to its client."""
    unknown: int = INVALID_PARAMS
    """The error code for an unknown task. A task of another principal is unknown."""
    no_result: int = INVALID_PARAMS
    """The error code for the result of a cancelled task."""


RULES: Final[Mapping[TaskForm, Rules]] = {
    TaskForm.CORE: Rules(
        ttl="ttl",
        poll_interval="pollInterval",
        task_needed=METHOD_NOT_FOUND,
        task_refused=METHOD_NOT_FOUND,
        cancel_finished=INVALID_PARAMS,
        tool_error=Status.FAILED,
        sends_progress=True,
    ),
    TaskForm.EXTENSION: Rules(
        ttl="ttlMs",
        poll_interval="pollIntervalMs",
        task_needed=MISSING_CAPABILITY,
        task_refused=None,
        cancel_finished=None,
        tool_error=Status.COMPLETED,
        sends_progress=False,
    ),
}


def moved(record: TaskRecord, status: Status, now: float, **changes: Any) -> TaskRecord | None:
    """The next version of a task, in a state that may be the same; None if the state must not follow."""
    if record.status in TERMINAL or (
        status is not record.status and status not in TRANSITIONS[record.status]
    ):
        return None
    finished: dict[str, Any] = {"questions": {}, "answers": {}} if status in TERMINAL else {}
    fields = {"status": status, "updated": max(now, record.updated), "version": record.version + 1}
    return replace(record, **{**fields, **changes, **finished})


def asked(record: TaskRecord, key: str, question: Raw, now: float) -> TaskRecord | None:
    """Add a question to the client."""
    return moved(record, Status.INPUT_REQUIRED, now, questions={**record.questions, key: question})


def answered(record: TaskRecord, responses: Mapping[str, Raw], now: float) -> TaskRecord | None:
    """Take the answers to open questions; others are ignored. None if none of them is open."""
    answers = {key: answer for key, answer in responses.items() if key in record.questions}
    if not answers:
        return None
    changed = withdrawn(record, answers, now)
    return None if changed is None else replace(changed, answers={**record.answers, **answers})


def withdrawn(record: TaskRecord, keys: Mapping[str, Any], now: float) -> TaskRecord | None:
    """Remove questions; a task without any works on."""
    left = {key: question for key, question in record.questions.items() if key not in keys}
    status = Status.INPUT_REQUIRED if left else Status.WORKING
    return moved(record, status, now, questions=left)


def shown(record: TaskRecord, form: TaskForm) -> dict[str, Any]:
    """The fields that every message about a task has."""
    rules = RULES[form]
    fields: dict[str, Any] = {"taskId": record.id, "status": record.status.value}
    if record.message is not None:
        fields["statusMessage"] = record.message
    fields |= {"createdAt": _timestamp(record.created), "lastUpdatedAt": _timestamp(record.updated)}
    return {**fields, rules.ttl: record.ttl, rules.poll_interval: record.poll_interval}


def detailed(record: TaskRecord, result: Any) -> dict[str, Any]:
    """A task of the extension with its outcome or its open questions, as `tasks/get` shows it.

    Args:
        record: The task.
        result: Its result, with the fields that all results have.
    """
    fields = shown(record, TaskForm.EXTENSION)
    if record.status is Status.INPUT_REQUIRED:
        fields["inputRequests"] = record.questions
    elif record.status is Status.COMPLETED:
        fields["result"] = result
    elif record.status is Status.FAILED:
        fields["error"] = record.error
    return fields


def related(task_id: str, params: Any) -> dict[str, Any]:
    """Parameters or a result with the task that they belong to in `_meta`."""
    fields: dict[str, Any] = msgspec.to_builtins(params) if params is not None else {}
    return {**fields, "_meta": {**fields.get("_meta", {}), RELATED: {"taskId": task_id}}}


def _timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
