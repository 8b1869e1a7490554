"""The server decides what becomes a task, and says of each result what it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.answered import answered
from assay.lab.everything.declaring import official_check
from assay.lab.everything.faults import judged, result_faults
from assay.lab.everything.task_opening import judge_opening
from assay.lab.everything.task_shape import creation_faults, sync_faults
from assay.lab.everything.task_story import Story, calls, stories
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND

OPENING = "tasks-dispatch-bootstrap"
RESULT_GONE = "sep-2663-tasks-result-removed-method-not-found"
LIST_GONE = "tasks-removed-tasks-list"
UNHINTED = "tasks-server-directed-creation-no-hint"
HINTED = "sep-2663-legacy-task-param-ignored"
INSTANT = "tasks-immediate-result-shortcut"
KIND = "tasks-result-type-complete-on-non-task-responses"
DURABLE = "sep-2663-durable-create-strong-consistency"
UNKNOWN = "sep-2663-tasks-get-invalid-task-id-32602"
GONE = {"tasks/result": RESULT_GONE, "tasks/list": LIST_GONE}
ABOUT = ("tasks/get", "tasks/update", "tasks/cancel")


@official_check(
    "tasks-dispatch-and-envelope",
    "What is a task, what is none, and what has gone",
    rows=(OPENING, RESULT_GONE, LIST_GONE, UNHINTED, HINTED, INSTANT, KIND, DURABLE, UNKNOWN),
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_opening(OPENING, trace)
    yield from _judge_calls(trace)
    yield from _judge_kinds(trace)
    for story in stories(trace, "confirm_delete"):
        if story.gets:
            yield _judge_durable(story)
            yield from _judge_strangers(trace, story)


def _judge_calls(trace: Trace) -> Iterator[Observation]:
    for exchange in calls(trace, "failing_job"):
        expected = "a task, though the call gives no hint"
        yield judged(UNHINTED, result_faults(exchange, creation_faults), exchange, expected=expected)
    for exchange in calls(trace, "greet"):
        if "task" in exchange.params:
            expected = "the result at once: a `task` parameter means nothing"
            yield judged(HINTED, result_faults(exchange, sync_faults), exchange, expected=expected)
    for exchange in calls(trace, "slow_compute"):
        expected = "the result at once, or a task"
        yield judged(INSTANT, result_faults(exchange, _instant_faults), exchange, expected=expected)


def _instant_faults(result: dict[str, Any]) -> Iterator[str]:
    is_task = result.get("resultType") == "task"
    return creation_faults(result) if is_task else sync_faults(result)


def _judge_kinds(trace: Trace) -> Iterator[Observation]:
    for exchange in (*calls(trace, "greet"), *_about_tasks(trace)):
        if exchange.result is not None:
            kind = exchange.result.get("resultType")
            expected = f'resultType "complete" of {exchange.method}'
            yield observe(
                KIND, kind == "complete", exchange, expected=expected, observed=f"resultType {kind!r}"
            )


def _about_tasks(trace: Trace) -> Iterator[Exchange]:
    return (exchange for method in ABOUT for exchange in answered(trace, method))


def _judge_durable(story: Story) -> Observation:
    """Whoever was told of a task can read it at once."""
    first = story.gets[0]
    holds = (first.result or {}).get("taskId") == first.params.get("taskId")
    return observe(DURABLE, holds, story.call, first, expected="the task that was made", observed=first)


def _judge_strangers(trace: Trace, story: Story) -> Iterator[Observation]:
    """Where a task can be read, what is refused is refused for the method, or for the id."""
    if story.gets[0].result is None:
        return
    for method, row in GONE.items():
        for exchange in answered(trace, method):
            holds = exchange.code == METHOD_NOT_FOUND
            yield observe(row, holds, exchange, expected=f"error {METHOD_NOT_FOUND}", observed=exchange)
    for exchange in answered(trace, "tasks/get", taskId="no-such-task"):
        holds = exchange.code == INVALID_PARAMS
        expected = f"error {INVALID_PARAMS}: there is no such task"
        yield observe(UNKNOWN, holds, story.gets[0], exchange, expected=expected, observed=exchange)
