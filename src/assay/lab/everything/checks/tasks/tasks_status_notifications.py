"""A server that agrees to tell of a task does so, with the whole task, to clients that know tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.declaring import official_check
from assay.lab.everything.extension import declares_tasks
from assay.lab.everything.faults import judged
from assay.lab.everything.task_shape import ENDS, completion_faults, duration_faults, task_faults
from assay.lab.everything.task_story import about, calls
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.subscription import Subscription, subscriptions
from assay.model.error import MISSING_CAPABILITY

ROW = "tasks-status-notifications"
TOLD = "notifications/tasks"
STRANGE = ("notifications/progress", "notifications/message", "notifications/tasks/status")
"""What has no place on a stream for tasks; the last is the name of an earlier draft."""


@official_check(ROW, "Whoever listens for a task is told how it goes", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    asked = [one for one in subscriptions(trace) if "taskIds" in one.wishes]
    let_in = [one for one in asked if declares_tasks(one.exchange.params) and one.acknowledgement is not None]
    for one in let_in:
        for message in one.messages:
            if message.method in STRANGE:
                yield judged(
                    ROW, [str(message)], one, message, expected=f"{TOLD}, and nothing else of a task"
                )
        for task in _granted(one):
            yield from _judge_told(one, task, trace)
    for one in asked if let_in else ():
        decided = one.acknowledgement is not None or one.exchange.answer is not None
        if decided and not declares_tasks(one.exchange.params):
            expected = f"error {MISSING_CAPABILITY}: the client does not declare the extension"
            yield judged(ROW, _stranger_faults(one), let_in[0], one, expected=expected)


def _granted(one: Subscription) -> list[str]:
    params = {} if one.acknowledgement is None else one.acknowledgement.params
    granted = params.get("notifications")
    names = granted.get("taskIds") if isinstance(granted, dict) else None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _judge_told(one: Subscription, task: str, trace: Trace) -> Iterator[Observation]:
    told = [message for message in one.messages if _tells(message, task)]
    for message in told:
        yield judged(ROW, _told_faults(message.params), message, expected="the whole task")
    ends = [message for message in told if message.params.get("status") in ENDS]
    if not ends and trace.header.closed and _was_working(one, task, trace):
        faults = [f"{len(told)} notifications, none of an end"]
        yield judged(ROW, faults, one, expected="the end of the task, which came later")
    seen = [exchange for exchange in about(trace, "tasks/get", task) if exchange.result is not None]
    if ends and seen:
        faults = list(_difference(ends[-1], seen[-1].result or {}))
        yield judged(ROW, faults, ends[-1], seen[-1], expected="what tasks/get says of it")


def _tells(message: Message, task: str) -> bool:
    return message.method == TOLD and message.params.get("taskId") == task


def _was_working(one: Subscription, task: str, trace: Trace) -> bool:
    """Whether the work cannot have been done before the server agreed to tell of it."""
    heard = one.acknowledgement
    for exchange in calls(trace, "slow_compute"):
        if heard is not None and (exchange.result or {}).get("taskId") == task:
            seconds = exchange.params["arguments"].get("seconds")
            passed = heard.frame.t - exchange.request.frame.t
            return isinstance(seconds, int | float) and passed < seconds
    return False


def _told_faults(task: dict[str, Any]) -> Iterator[str]:
    yield from task_faults(task)
    yield from duration_faults(task)
    if task.get("status") == "completed":
        yield from completion_faults(task)


def _difference(told: Message, seen: dict[str, Any]) -> Iterator[str]:
    for key in ("status", "createdAt", "result"):
        if told.params.get(key) != seen.get(key):
            yield f"another {key} in the notification than in tasks/get"


def _stranger_faults(one: Subscription) -> Iterator[str]:
    if one.exchange.code != MISSING_CAPABILITY:
        yield "an acknowledgement" if one.acknowledgement is not None else str(one.exchange)
