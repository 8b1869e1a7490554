"""A task says what it waits for, and goes on when it has it: with all of it, and not with a part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.declaring import official_check
from assay.lab.everything.faults import judged, result_faults
from assay.lab.everything.task_opening import judge_opening
from assay.lab.everything.task_shape import acknowledgement_faults, completion_faults
from assay.lab.everything.task_story import Story, calls, judged_end, stories
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation

OPENING = "tasks-mrtr-input-bootstrap"
WAITING = "sep-2663-tasks-get-status-input-required"
RESUMED = "tasks-mrtr-tasks-update-resumes"
PARTIAL = "tasks-mrtr-partial-fulfillment"
ACK = '{"resultType": "complete"}'


@official_check("tasks-mrtr-input", "Input for tasks", rows=(OPENING, WAITING, RESUMED, PARTIAL))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_opening(OPENING, trace)
    for row, tool in ((WAITING, "confirm_delete"), (PARTIAL, "multi_input")):
        for exchange in calls(trace, tool):
            if (exchange.result or {}).get("resultType") != "task":
                yield judged(row, [str(exchange)], exchange, expected="a task")
    for story in stories(trace, "confirm_delete"):
        yield from _judge_waiting(WAITING, story, 1)
        yield from _judge_resumed(RESUMED, story)
    for story in stories(trace, "multi_input"):
        yield from _judge_waiting(PARTIAL, story, 2)
        yield from _judge_part(story)
        if len(story.updates) > 1:
            yield from _judge_resumed(PARTIAL, story)


def _judge_waiting(row: str, story: Story, count: int) -> Iterator[Observation]:
    """The last look before the first answer: what is waited for must be there."""
    before = [one for one in story.gets if not story.updates or _precedes(one, story.updates[0])]
    if before and (story.unsettled or (before[-1].result or {}).get("status") != "working"):
        faults = _waiting_faults(before[-1], count)
        yield judged(
            row, faults, story.call, before[-1], expected=f"input_required, for {count} elicitations"
        )


def _waiting_faults(seen: Exchange, count: int) -> Iterator[str]:
    task = seen.result or {}
    if task.get("status") != "input_required":
        yield f"status {task.get('status')!r}"
    asked = _asked(task)
    if len(asked) < count:
        yield f"{len(asked)} input requests"
    for key, question in asked.items():
        method = question.get("method") if isinstance(question, dict) else None
        if method != "elicitation/create":
            yield f"method {method!r} under {key!r}"


def _judge_resumed(row: str, story: Story) -> Iterator[Observation]:
    for exchange in story.updates:
        yield judged(row, result_faults(exchange, acknowledgement_faults), exchange, expected=ACK)
    if story.updates:
        yield from judged_end(row, story, completion_faults, "a completed task, after its input")


def _judge_part(story: Story) -> Iterator[Observation]:
    """Between the first answer and the second: the other question is open, and the first is not."""
    if not story.updates:
        return
    given = story.updates[0].params.get("inputResponses")
    answered = set(given) if isinstance(given, dict) else set()
    after = [one for one in story.gets if _precedes(story.updates[0], one)]
    between = [one for one in after if len(story.updates) < 2 or _precedes(one, story.updates[1])]
    if between and (len(story.updates) > 1 or story.is_told):
        left = set(_asked(_before_answers(story))) - answered
        faults = _part_faults(between[-1], left)
        yield judged(PARTIAL, faults, story.updates[0], between[-1], expected=f"input_required, for {left}")


def _before_answers(story: Story) -> dict[str, Any]:
    """The task at the last look before the first answer."""
    before = [one for one in story.gets if _precedes(one, story.updates[0])]
    return (before[-1].result if before else None) or {}


def _part_faults(seen: Exchange, left: set[str]) -> Iterator[str]:
    task = seen.result or {}
    if task.get("status") != "input_required":
        yield f"status {task.get('status')!r}"
    if set(_asked(task)) != left:
        yield f"input requests {sorted(_asked(task))}"


def _asked(task: dict[str, Any]) -> dict[str, Any]:
    asked = task.get("inputRequests")
    return asked if isinstance(asked, dict) else {}


def _precedes(one: Exchange, other: Exchange) -> bool:
    return one.request.frame.n < other.request.frame.n
