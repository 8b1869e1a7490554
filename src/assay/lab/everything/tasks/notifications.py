"""Tasks: status notifications."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fixture import HAS_TASKS, UNDECLARED, declares_tasks, fixture_tool
from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, observe
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.trace.message import Message
from assay.lab.suite.evidence import no_faults
from assay.lab.suite.self_description import as_object
from assay.lab.suite.subscription import ACKNOWLEDGED, LISTEN, Subscription, subscriptions
from assay.lab.suite.task_message import (
    FINAL,
    completion_faults,
    duration_faults,
    send_about,
    task_faults,
    task_of,
)
from assay.model.error import MISSING_CAPABILITY

from .task import call_tool, calls, on_reply, open_with_tasks, task_exchanges

# --- what is asked


STATUS_CHANGED = "notifications/tasks"


@official_scenario(
    "tasks-status-notifications",
    "Listen for the status of a task",
    needs=(HAS_TASKS, fixture_tool("slow_compute")),
)
async def drive_tasks_status_notifications(stage: Stage) -> None:
    peer = await open_with_tasks(stage)
    task = task_of(await call_tool(peer, "slow_compute", seconds=1, label="told"))
    if task is None:
        return
    params = {"notifications": {"taskIds": [task]}}
    pending = await peer.start(LISTEN, params)
    acknowledgement = await peer.wait_for(ACKNOWLEDGED, during=pending)
    if acknowledgement is not None:
        if task in _granted(acknowledgement):
            await _await_end(peer, task)
            await send_about(peer, "tasks/get", task)
        refused = await peer.start(LISTEN, {**params, "_meta": UNDECLARED})
        await peer.wait_for(ACKNOWLEDGED, during=refused)


async def _await_end(peer: Peer, task: str) -> None:
    """Wait for notifications until one reports an end; a mark records that none came."""
    status = await peer.wait_for(STATUS_CHANGED, taskId=task)
    while status is not None and status.params.get("status") not in FINAL:
        status = await peer.wait_for(STATUS_CHANGED, taskId=task)


def _granted(acknowledgement: Message) -> list[str]:
    names = as_object(acknowledgement.params.get("notifications")).get("taskIds")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


# --- how it is judged


REQUIREMENT = "tasks-status-notifications"
OTHERS = ("notifications/progress", "notifications/message", "notifications/tasks/status")
"""Notifications that must not come on a stream for tasks; the last is the name of an earlier draft."""


@official_check(REQUIREMENT, "Listeners for a task receive its status")
def judge_tasks_status_notifications(trace: Trace) -> Iterator[Observation]:
    streams = [stream for stream in subscriptions(trace) if "taskIds" in stream.filters]
    opened = [
        stream for stream in streams if declares_tasks(stream.exchange.params) and stream.acknowledgement
    ]
    for stream in opened:
        for message in stream.messages:
            if message.method in OTHERS:
                expected = f"{STATUS_CHANGED}, and no other notification of a task"
                yield observe(REQUIREMENT, False, stream, message, expected=expected, observed=message)
        for task in _granted(stream.acknowledgement) if stream.acknowledgement is not None else ():
            yield from _judge_status(stream, task, trace)
    for stream in streams if opened else ():
        decided = stream.acknowledgement is not None or stream.exchange.answer is not None
        if decided and not declares_tasks(stream.exchange.params):
            yield observe(
                REQUIREMENT,
                stream.exchange.code == MISSING_CAPABILITY,
                opened[0],
                stream,
                expected=f"error {MISSING_CAPABILITY}: the client does not declare the extension",
                observed="an acknowledgement" if stream.acknowledgement is not None else stream.exchange,
            )


def _judge_status(stream: Subscription, task: str, trace: Trace) -> Iterator[Observation]:
    notices = [
        message
        for message in stream.messages
        if message.method == STATUS_CHANGED and message.params.get("taskId") == task
    ]
    for message in notices:
        yield no_faults(REQUIREMENT, _status_faults(message.params), message, expected="the whole task")
    ends = [message for message in notices if message.params.get("status") in FINAL]
    if not ends and trace.header.closed and _was_working(stream, task, trace):
        observed = f"{len(notices)} notifications, none of an end"
        yield observe(
            REQUIREMENT, False, stream, expected="a notification of the later end", observed=observed
        )
    gets = [exchange for exchange in task_exchanges(trace, "tasks/get", task) if exchange.result is not None]
    if ends and gets:
        faults = _differences(ends[-1], gets[-1].result or {})
        yield no_faults(REQUIREMENT, faults, ends[-1], gets[-1], expected="the task as in tasks/get")


def _was_working(stream: Subscription, task: str, trace: Trace) -> bool:
    """Whether the task cannot have ended before the acknowledgement."""
    for exchange in calls(trace, "slow_compute"):
        if stream.acknowledgement is not None and (exchange.result or {}).get("taskId") == task:
            seconds = exchange.params["arguments"].get("seconds")
            passed = stream.acknowledgement.frame.t - exchange.request.frame.t
            return isinstance(seconds, int | float) and passed < seconds
    return False


def _status_faults(task: dict[str, Any]) -> Iterator[str]:
    yield from task_faults(task)
    yield from duration_faults(task)
    if task.get("status") == "completed":
        yield from completion_faults(task)


def _differences(notice: Message, task: dict[str, Any]) -> Iterator[str]:
    for key in ("status", "createdAt", "result"):
        if notice.params.get(key) != task.get(key):
            yield f"another {key} in the notification than in tasks/get"


# --- what the checks must catch


@on_reply("does not notify listeners of the end of a task", breaks=REQUIREMENT, silent=True)
def end_untold(reply: Json, context: FaultContext) -> Json | None:
    is_end = reply.get("params", {}).get("status") == "completed"
    return None if reply.get("method") == STATUS_CHANGED and is_end else reply


@on_reply("also sends notifications/tasks/status", breaks=REQUIREMENT)
def old_notification(reply: Json, context: FaultContext) -> list[Json]:
    is_status = reply.get("method") == STATUS_CHANGED
    return [reply, {**reply, "method": "notifications/tasks/status"}] if is_status else [reply]


@on_reply("notifies of a completed task without its result", breaks=REQUIREMENT)
def told_in_part(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == STATUS_CHANGED:
        reply["params"].pop("result", None)
    return reply
