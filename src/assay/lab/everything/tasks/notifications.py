"""Tasks: status notifications."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.everything.evidence import judged
from assay.lab.everything.fixture import HAS_TASKS, UNDECLARED, declares_tasks, fixture_tool
from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, on_reply, on_request
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.sabotage.saboteur import meta_of
from assay.lab.harness.trace.message import Message
from assay.lab.suite.subscription import ACKNOWLEDGED, LISTEN, Subscription, subscriptions
from assay.model.error import MISSING_CAPABILITY

from .task import (
    DECLARED,
    ENDS,
    about,
    ask,
    begin,
    call_tool,
    calls,
    completion_faults,
    duration_faults,
    task_faults,
    task_of,
)

# --- what is asked


TOLD = "notifications/tasks"


@official_scenario(
    "tasks-status-notifications",
    "Whoever listens for a task is told how it goes",
    needs=(HAS_TASKS, fixture_tool("slow_compute")),
)
async def drive_tasks_status_notifications(stage: Stage) -> None:
    peer = await begin(stage)
    task = task_of(await call_tool(peer, "slow_compute", seconds=1, label="told"))
    if task is None:
        return
    wishes = {"taskIds": [task]}
    pending = await peer.start(LISTEN, {"notifications": wishes})
    heard = await peer.hear(ACKNOWLEDGED, during=pending)
    if heard is not None:
        if task in _granted(heard.params):
            await _hear_its_end(peer, task)
            await ask(peer, "tasks/get", task)
        refused = await peer.start(LISTEN, {"notifications": wishes, "_meta": UNDECLARED})
        await peer.hear(ACKNOWLEDGED, during=refused)


async def _hear_its_end(peer: Peer, task: str) -> None:
    """Each notification is waited for, up to one that tells of an end; a mark is left if none comes."""
    told = await peer.hear(TOLD, taskId=task)
    while told is not None and told.params.get("status") not in ENDS:
        told = await peer.hear(TOLD, taskId=task)


def _granted(params: dict[str, Any]) -> list[Any]:
    granted = params.get("notifications")
    names = granted.get("taskIds") if isinstance(granted, dict) else None
    return names if isinstance(names, list) else []


STRANGE = ("notifications/progress", "notifications/message", "notifications/tasks/status")
"""What has no place on a stream for tasks; the last is the name of an earlier draft."""


@official_check("tasks-status-notifications", "Whoever listens for a task is told how it goes")
def judge_tasks_status_notifications(trace: Trace) -> Iterator[Observation]:
    asked = [one for one in subscriptions(trace) if "taskIds" in one.wishes]
    let_in = [one for one in asked if declares_tasks(one.exchange.params) and one.acknowledgement is not None]
    for one in let_in:
        for message in one.messages:
            if message.method in STRANGE:
                yield judged(
                    "tasks-status-notifications",
                    [str(message)],
                    one,
                    message,
                    expected=f"{TOLD}, and nothing else of a task",
                )
        for task in _tasks_status_notifications_granted(one):
            yield from _judge_told(one, task, trace)
    for one in asked if let_in else ():
        decided = one.acknowledgement is not None or one.exchange.answer is not None
        if decided and not declares_tasks(one.exchange.params):
            expected = f"error {MISSING_CAPABILITY}: the client does not declare the extension"
            yield judged(
                "tasks-status-notifications", _stranger_faults(one), let_in[0], one, expected=expected
            )


def _tasks_status_notifications_granted(one: Subscription) -> list[str]:
    params = {} if one.acknowledgement is None else one.acknowledgement.params
    granted = params.get("notifications")
    names = granted.get("taskIds") if isinstance(granted, dict) else None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _judge_told(one: Subscription, task: str, trace: Trace) -> Iterator[Observation]:
    told = [message for message in one.messages if _tells(message, task)]
    for message in told:
        yield judged(
            "tasks-status-notifications", _told_faults(message.params), message, expected="the whole task"
        )
    ends = [message for message in told if message.params.get("status") in ENDS]
    if not ends and trace.header.closed and _was_working(one, task, trace):
        faults = [f"{len(told)} notifications, none of an end"]
        yield judged(
            "tasks-status-notifications", faults, one, expected="the end of the task, which came later"
        )
    seen = [exchange for exchange in about(trace, "tasks/get", task) if exchange.result is not None]
    if ends and seen:
        faults = list(_difference(ends[-1], seen[-1].result or {}))
        yield judged(
            "tasks-status-notifications", faults, ends[-1], seen[-1], expected="what tasks/get says of it"
        )


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


# --- what the checks must catch


@on_reply(
    "the end of a task is not told to who listens",
    breaks="tasks-status-notifications",
    silent=True,
    double=DOUBLE,
)
def end_untold(reply: Json, context: FaultContext) -> Json | None:
    is_end = reply.get("params", {}).get("status") == "completed"
    return None if reply.get("method") == "notifications/tasks" and is_end else reply


@on_reply(
    "tasks are told of as notifications/tasks/status", breaks="tasks-status-notifications", double=DOUBLE
)
def old_notification(reply: Json, context: FaultContext) -> list[Json]:
    is_told = reply.get("method") == "notifications/tasks"
    return [reply, {**reply, "method": "notifications/tasks/status"}] if is_told else [reply]


@on_request("listening for a task needs no declaration", breaks="tasks-status-notifications", double=DOUBLE)
def stranger_listens(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "subscriptions/listen":
        meta_of(message)[CAPABILITIES_KEY] = DECLARED
    return message


@on_reply(
    "a notification of a completed task has no result", breaks="tasks-status-notifications", double=DOUBLE
)
def told_in_part(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/tasks":
        reply["params"].pop("result", None)
    return reply
