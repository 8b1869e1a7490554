"""A task is made flat, tells its status, and ends as its work did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.declaring import official_check
from assay.lab.everything.faults import judged, result_faults
from assay.lab.everything.task_opening import judge_opening
from assay.lab.everything.task_shape import (
    ENDS,
    PAYLOADS,
    acknowledgement_faults,
    completion_faults,
    creation_faults,
    failure_faults,
    sync_faults,
)
from assay.lab.everything.task_story import Story, calls, judged_end, stories
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation

OPENING = "tasks-lifecycle-bootstrap"
SYNC = "tasks-sync-tool-call"
CREATED = "sep-2663-result-type-task-on-create"
WORKING = "sep-2663-tasks-get-status-working"
COMPLETED = "sep-2663-tasks-get-status-completed"
TOOL_ERROR = "sep-2663-tool-error-uses-completed-status"
FAILED = "sep-2663-tasks-get-status-failed"
CANCELLED = "sep-2663-cancel-ack-empty-result"
TWICE = "tasks-cancel-terminal-idempotent-ack"


@official_check(
    "tasks-lifecycle",
    "Tasks tell their status and end as their work did",
    rows=(OPENING, SYNC, CREATED, WORKING, COMPLETED, TOOL_ERROR, FAILED, CANCELLED, TWICE),
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_opening(OPENING, trace)
    for exchange in calls(trace, "greet"):
        yield judged(SYNC, greeting_faults(exchange), exchange, expected="the greeting at once, and no task")
    for exchange in calls(trace, "slow_compute"):
        faults = result_faults(exchange, creation_faults)
        yield judged(CREATED, faults, exchange, expected='a flat task with resultType "task"')
    for story in stories(trace, "slow_compute", label="quick"):
        yield from _judge_quick(story)
    yield from _judge_failures(trace)
    for story in stories(trace, "slow_compute", label="long"):
        yield from _judge_cancelled(story)


def greeting_faults(exchange: Exchange) -> Iterator[str]:
    """Of a tool that is never a task, and whose words are known."""
    if exchange.result is None:
        yield str(exchange)
        return
    yield from sync_faults(exchange.result)
    arguments = exchange.params.get("arguments")
    name = arguments.get("name") if isinstance(arguments, dict) else None
    texts = [block.get("text") for block in exchange.objects("content")]
    if f"Hello, {name}!" not in texts:
        yield f"the texts {texts!r}"


def _judge_quick(story: Story) -> Iterator[Observation]:
    first = story.gets[0] if story.gets else None
    # A slow machine may find the work done at its first look: that shows nothing of the status before.
    if first is not None and (first.result or {}).get("status") != "completed":
        yield judged(WORKING, _working_faults(story, first), first, expected="the task, as working")
    expected = "a completed task with the result of the tool in it"
    yield from judged_end(COMPLETED, story, completion_faults, expected)
    ended = [one for one in story.gets if (one.result or {}).get("status") in ENDS]
    for exchange in story.cancels:
        if ended and exchange.request.frame.n > ended[0].request.frame.n:
            faults = result_faults(exchange, acknowledgement_faults)
            yield judged(TWICE, faults, ended[0], exchange, expected='{"resultType": "complete"}')


def _working_faults(story: Story, seen: Exchange) -> Iterator[str]:
    task = seen.result or {}
    if task.get("taskId") != (story.call.result or {}).get("taskId"):
        yield f"taskId {task.get('taskId')!r}"
    if task.get("status") != "working":
        yield f"status {task.get('status')!r}" if seen.result is not None else str(seen)
    yield from (f"`{key}` in a task that works" for key in PAYLOADS if key in task)


def _judge_failures(trace: Trace) -> Iterator[Observation]:
    for row, tool in ((TOOL_ERROR, "failing_job"), (FAILED, "protocol_error_job")):
        for exchange in calls(trace, tool):
            if (exchange.result or {}).get("resultType") != "task":
                yield judged(row, [str(exchange)], exchange, expected="a task")
    for story in stories(trace, "failing_job"):
        expected = "status completed, and a result with `isError: true`"
        yield from judged_end(TOOL_ERROR, story, _tool_error_faults, expected)
    for story in stories(trace, "protocol_error_job"):
        yield from judged_end(FAILED, story, failure_faults, "status failed, and the error of the call")


def _tool_error_faults(task: dict[str, Any]) -> Iterator[str]:
    yield from completion_faults(task)
    result = task.get("result")
    if isinstance(result, dict) and result.get("isError") is not True:
        yield f"isError {result.get('isError')!r}"


def _judge_cancelled(story: Story) -> Iterator[Observation]:
    for exchange in story.cancels:
        faults = result_faults(exchange, acknowledgement_faults)
        yield judged(CANCELLED, faults, exchange, expected='{"resultType": "complete"}')
    if story.cancels:
        yield from judged_end(CANCELLED, story, lambda task: (), "a task that ends once it is cancelled")
