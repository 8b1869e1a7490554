"""Tasks: from working to a final state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fixture import HAS_TASKS, fixture_tool
from assay.lab.harness import ABSENT, FaultContext, Json, Observation, Stage, Trace, error_reply, observe
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.evidence import no_faults, result_faults
from assay.lab.suite.self_description import as_object
from assay.lab.suite.task_message import (
    FINAL,
    PAYLOADS,
    acknowledgement_faults,
    completion_faults,
    creation_faults,
    failure_faults,
    poll,
    send_about,
    sync_faults,
    task_of,
)
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS

from .task import (
    TaskHistory,
    call_tool,
    calls,
    edited_results,
    has_ended,
    histories,
    judge_discovery,
    observe_end,
    on_reply,
    on_result,
    open_with_tasks,
)

# --- what is asked


@official_scenario(
    "tasks-lifecycle",
    "Create, poll and cancel tasks",
    needs=(HAS_TASKS, *map(fixture_tool, ("greet", "slow_compute", "failing_job", "protocol_error_job"))),
)
async def drive_tasks_lifecycle(stage: Stage) -> None:
    peer = await open_with_tasks(stage, elicitation={}, sampling={})
    await call_tool(peer, "greet", name="World")
    quick = task_of(await call_tool(peer, "slow_compute", seconds=1, label="quick"))
    if quick is not None:
        await send_about(peer, "tasks/get", quick)
    failing = task_of(await call_tool(peer, "failing_job"))
    broken = task_of(await call_tool(peer, "protocol_error_job"))
    long = task_of(await call_tool(peer, "slow_compute", seconds=60, label="long"))
    if long is not None:
        await send_about(peer, "tasks/cancel", long)
    # All of them have started by now, so that they run at the same time.
    for task in filter(None, (quick, failing, broken, long)):
        await poll(peer, task)
    if quick is not None:
        await send_about(peer, "tasks/cancel", quick)


@official_scenario(
    "tasks-request-state-removal",
    "Create and poll a task without request state",
    needs=(HAS_TASKS, fixture_tool("slow_compute")),
)
async def drive_tasks_request_state_removal(stage: Stage) -> None:
    peer = await open_with_tasks(stage)
    task = task_of(await call_tool(peer, "slow_compute", seconds=60, label="state"))
    if task is not None:
        await send_about(peer, "tasks/get", task)
        await send_about(peer, "tasks/cancel", task)
        await poll(peer, task)


# --- how it is judged


DISCOVERY = "tasks-lifecycle-bootstrap"
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
    "Tasks report their status and end as their work did",
    requirements=(DISCOVERY, SYNC, CREATED, WORKING, COMPLETED, TOOL_ERROR, FAILED, CANCELLED, TWICE),
)
def judge_tasks_lifecycle(trace: Trace) -> Iterator[Observation]:
    yield from judge_discovery(DISCOVERY, trace)
    for exchange in calls(trace, "greet"):
        yield no_faults(
            SYNC, _greeting_faults(exchange), exchange, expected="the greeting at once, without a task"
        )
    for exchange in calls(trace, "slow_compute"):
        faults = result_faults(exchange, creation_faults)
        yield no_faults(CREATED, faults, exchange, expected='a flat task with resultType "task"')
    for history in histories(trace, "slow_compute", label="quick"):
        yield from _judge_quick(history)
    yield from _judge_failures(trace)
    for history in histories(trace, "slow_compute", label="long"):
        yield from _judge_cancelled(history)


def _greeting_faults(exchange: Exchange) -> Iterator[str]:
    """Of a tool that never becomes a task, and whose text is fixed."""
    yield from result_faults(exchange, sync_faults)
    name = as_object(exchange.params.get("arguments")).get("name")
    texts = [block.get("text") for block in exchange.objects("content")]
    if exchange.result is not None and f"Hello, {name}!" not in texts:
        yield f"the texts {texts!r}"


def _judge_quick(history: TaskHistory) -> Iterator[Observation]:
    first = history.gets[0] if history.gets else None
    # On a slow machine the first tasks/get may find a completed task, which shows no earlier status.
    if first is not None and (first.result or {}).get("status") != "completed":
        yield no_faults(
            WORKING, _working_faults(history, first), first, expected="the task with status working"
        )
    expected = "a completed task with the result of the tool in it"
    yield from observe_end(COMPLETED, history, completion_faults, expected)
    ended = [exchange for exchange in history.gets if (exchange.result or {}).get("status") in FINAL]
    for exchange in history.cancels:
        if ended and exchange.request.frame.n > ended[0].request.frame.n:
            faults = result_faults(exchange, acknowledgement_faults)
            yield no_faults(TWICE, faults, ended[0], exchange, expected='{"resultType": "complete"}')


def _working_faults(history: TaskHistory, exchange: Exchange) -> Iterator[str]:
    task = exchange.result or {}
    if task.get("taskId") != (history.call.result or {}).get("taskId"):
        yield f"taskId {task.get('taskId')!r}"
    if task.get("status") != "working":
        yield f"status {task.get('status')!r}" if exchange.result is not None else str(exchange)
    yield from (f"`{key}` in a working task" for key in PAYLOADS if key in task)


def _judge_failures(trace: Trace) -> Iterator[Observation]:
    for requirement, tool in ((TOOL_ERROR, "failing_job"), (FAILED, "protocol_error_job")):
        for exchange in calls(trace, tool):
            if (exchange.result or {}).get("resultType") != "task":
                yield no_faults(requirement, [str(exchange)], exchange, expected="a task")
    for history in histories(trace, "failing_job"):
        expected = "status completed, and a result with `isError: true`"
        yield from observe_end(TOOL_ERROR, history, _tool_error_faults, expected)
    for history in histories(trace, "protocol_error_job"):
        yield from observe_end(FAILED, history, failure_faults, "status failed, and the error of the call")


def _tool_error_faults(task: dict[str, Any]) -> Iterator[str]:
    yield from completion_faults(task)
    result = task.get("result")
    if isinstance(result, dict) and result.get("isError") is not True:
        yield f"isError {result.get('isError')!r}"


def _judge_cancelled(history: TaskHistory) -> Iterator[Observation]:
    for exchange in history.cancels:
        faults = result_faults(exchange, acknowledgement_faults)
        yield no_faults(CANCELLED, faults, exchange, expected='{"resultType": "complete"}')
    if history.cancels:
        yield from observe_end(CANCELLED, history, lambda task: (), "a task that ends after its cancellation")


STATE_DISCOVERY = "tasks-request-state-bootstrap"
STATE_SETUP = "tasks-request-state-removal-setup"
STATELESS_TASK = "tasks-create-result-no-request-state"
STATELESS_GET = "tasks-get-detailed-no-request-state"


@official_check(
    "tasks-request-state-removal",
    "Tasks have no request state",
    requirements=(STATE_DISCOVERY, STATE_SETUP, STATELESS_TASK, STATELESS_GET),
)
def judge_tasks_request_state_removal(trace: Trace) -> Iterator[Observation]:
    yield from judge_discovery(STATE_DISCOVERY, trace)
    for exchange in calls(trace, "slow_compute"):
        is_task = (exchange.result or {}).get("resultType") == "task"
        yield observe(STATE_SETUP, is_task, exchange, expected="a task", observed=exchange)
        if is_task:
            yield _judge_state(STATELESS_TASK, exchange)
    for history in histories(trace, "slow_compute"):
        yield from (_judge_state(STATELESS_GET, get) for get in history.gets if get.result is not None)


def _judge_state(requirement: str, exchange: Exchange) -> Observation:
    state = "requestState" in (exchange.result or {})
    return observe(requirement, not state, exchange, expected="no `requestState`", observed=exchange)


# --- what the checks must catch


@on_result("answers tasks/cancel with the task", breaks=CANCELLED, method="tasks/cancel")
def cancel_tells_task(result: Json, context: FaultContext) -> None:
    result.update(taskId=context.params["taskId"], status="cancelled")


@on_reply("nests a new task under `task`", breaks=CREATED)
def nested_task(reply: Json, context: FaultContext) -> Json:
    if "result" in reply and reply["result"].get("resultType") == "task":
        reply["result"] = {"resultType": "task", "task": reply["result"]}
    return reply


@on_reply("never completes a task", breaks=COMPLETED, silent=True)
def never_done(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply:
        fields = {key: value for key, value in reply["result"].items() if key not in PAYLOADS}
        reply["result"] = {**fields, "status": "working"}
    return reply


@on_reply("returns a result for a working task", breaks=WORKING)
def result_while_working(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply and reply["result"]["status"] == "working":
        reply["result"]["result"] = {"content": []}
    return reply


@on_reply("fails a task whose tool reports an error", breaks=TOOL_ERROR)
def tool_error_fails_task(reply: Json, context: FaultContext) -> Json:
    task = reply.get("result", {})
    if context.method == "tasks/get" and task.get("result", {}).get("isError"):
        task.pop("result")
        reply["result"] = {
            **task,
            "status": "failed",
            "error": {"code": INTERNAL_ERROR, "message": "it went wrong"},
        }
    return reply


@on_reply("refuses tasks/cancel for a task that has ended", breaks=TWICE)
def second_cancel_refused(reply: Json, context: FaultContext) -> Json:
    if has_ended(reply, context) and context.method == "tasks/cancel":
        return error_reply(reply, INVALID_PARAMS, "it has ended")
    return reply


@on_result("adds a taskId to the result of a tool without a task", breaks=SYNC, name="greet")
def greeting_is_a_task(result: Json, context: FaultContext) -> None:
    result["taskId"] = "1"


@on_reply("adds a requestState to a new task", breaks=STATELESS_TASK)
def state_of_a_new_task(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and reply.get("result", {}).get("resultType") == "task":
        reply["result"]["requestState"] = "state"
    return reply


RESULT_EDITS: Final = edited_results(
    "tasks/get",
    ("tasks.result-left-out", "returns a completed task without a result", COMPLETED, "result", ABSENT),
    ("tasks.failure-without-error", "returns a failed task without an error", FAILED, "error", ABSENT),
    (
        "tasks.state-of-a-task",
        "adds a requestState to the answer to tasks/get",
        STATELESS_GET,
        "requestState",
        "state",
    ),
)
