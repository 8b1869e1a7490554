"""What a tool asks for before it becomes a task is in what the task ends with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.declaring import official_check
from assay.lab.everything.faults import judged, result_faults
from assay.lab.everything.task_shape import completion_faults, creation_faults
from assay.lab.everything.task_story import calls, judged_end, stories
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "sep-2663-mrtr-synchronous-before-task-creation"
TOOL = "test_tool_with_task"


@official_check("tasks-mrtr-composition", "Questions come before the task", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in calls(trace, TOOL):
        if "inputResponses" in exchange.params:
            faults = result_faults(exchange, _second_faults)
            expected = "a task, once the question is answered"
        else:
            faults, expected = result_faults(exchange, _first_faults), "a question, and no task yet"
        yield judged(ROW, faults, exchange, expected=expected)
    for story in stories(trace, TOOL):
        if "inputResponses" in story.call.params:
            yield from judged_end(ROW, story, _end_faults, "a completed task that says what was answered")


def _first_faults(asked: dict[str, Any]) -> Iterator[str]:
    if asked.get("resultType") != "input_required":
        yield f"resultType {asked.get('resultType')!r}"
    if not (isinstance(asked.get("inputRequests"), dict) and asked["inputRequests"]):
        yield f"inputRequests {asked.get('inputRequests')!r}"
    if "taskId" in asked:
        yield "a taskId before the question is answered"


def _second_faults(result: dict[str, Any]) -> Iterator[str]:
    yield from creation_faults(result)
    if "requestState" in result:
        yield "a requestState in a task"


def _end_faults(task: dict[str, Any]) -> Iterator[str]:
    yield from completion_faults(task)
    result = task.get("result")
    content = result.get("content") if isinstance(result, dict) else None
    if "Alice" not in str(content):
        yield f"content {content!r}, without the answer"
