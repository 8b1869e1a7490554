"""Tasks: from working to a final state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.everything.evidence import judged, result_faults
from assay.lab.everything.fixture import HAS_TASKS, fixture_tool
from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    edited_results,
    observe,
    on_reply,
    on_request,
    on_result,
)
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.sabotage.saboteur import meta_of
from assay.lab.harness.trace.trace import Exchange

from .task import (
    ENDS,
    PAYLOADS,
    Story,
    acknowledgement_faults,
    ask,
    begin,
    call_tool,
    calls,
    completion_faults,
    creation_faults,
    failure_faults,
    follow,
    judge_opening,
    judged_end,
    refused_opening,
    stories,
    sync_faults,
    task_of,
)

# --- what is asked


@official_scenario(
    "tasks-lifecycle",
    "Tasks are made, watched, ended and cancelled",
    needs=(HAS_TASKS, *map(fixture_tool, ("greet", "slow_compute", "failing_job", "protocol_error_job"))),
)
async def drive_tasks_lifecycle(stage: Stage) -> None:
    peer = await begin(stage, elicitation={}, sampling={})
    await call_tool(peer, "greet", name="World")
    quick = task_of(await call_tool(peer, "slow_compute", seconds=1, label="quick"))
    if quick is not None:
        await ask(peer, "tasks/get", quick)
    failing = task_of(await call_tool(peer, "failing_job"))
    broken = task_of(await call_tool(peer, "protocol_error_job"))
    long = task_of(await call_tool(peer, "slow_compute", seconds=60, label="long"))
    if long is not None:
        await ask(peer, "tasks/cancel", long)
    # All of them are under way by now, so that their seconds pass together.
    for task in filter(None, (quick, failing, broken, long)):
        await follow(peer, task)
    if quick is not None:
        await ask(peer, "tasks/cancel", quick)


@official_scenario(
    "tasks-request-state-removal",
    "Tasks carry no request state",
    needs=(HAS_TASKS, fixture_tool("slow_compute")),
)
async def drive_tasks_request_state_removal(stage: Stage) -> None:
    peer = await begin(stage)
    task = task_of(await call_tool(peer, "slow_compute", seconds=60, label="state"))
    if task is not None:
        await ask(peer, "tasks/get", task)
        await ask(peer, "tasks/cancel", task)
        await follow(peer, task)


# --- how it is judged


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
    requirements=(OPENING, SYNC, CREATED, WORKING, COMPLETED, TOOL_ERROR, FAILED, CANCELLED, TWICE),
)
def judge_tasks_lifecycle(trace: Trace) -> Iterator[Observation]:
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


TASKS_REQUEST_STATE_REMOVAL_OPENING = "tasks-request-state-bootstrap"
MADE = "tasks-request-state-removal-setup"
TASKS_REQUEST_STATE_REMOVAL_CREATED = "tasks-create-result-no-request-state"
SEEN = "tasks-get-detailed-no-request-state"


@official_check(
    "tasks-request-state-removal",
    "No request state",
    requirements=(TASKS_REQUEST_STATE_REMOVAL_OPENING, MADE, TASKS_REQUEST_STATE_REMOVAL_CREATED, SEEN),
)
def judge_tasks_request_state_removal(trace: Trace) -> Iterator[Observation]:
    yield from judge_opening(TASKS_REQUEST_STATE_REMOVAL_OPENING, trace)
    for exchange in calls(trace, "slow_compute"):
        made = (exchange.result or {}).get("resultType") == "task"
        yield observe(MADE, made, exchange, expected="a task", observed=exchange)
        if made:
            yield _judge_state(TASKS_REQUEST_STATE_REMOVAL_CREATED, exchange)
    for story in stories(trace, "slow_compute"):
        yield from (_judge_state(SEEN, one) for one in story.gets if one.result is not None)


def _judge_state(row: str, exchange: Exchange) -> Observation:
    state = "requestState" in (exchange.result or {})
    return observe(row, not state, exchange, expected="no `requestState`", observed=exchange)


# --- what the checks must catch


@on_result(
    "tasks/cancel is answered with the task",
    breaks="sep-2663-cancel-ack-empty-result",
    double=DOUBLE,
    method="tasks/cancel",
)
def cancel_tells_task(result: Json, context: FaultContext) -> None:
    result.update(taskId=context.params["taskId"], status="cancelled")


@on_reply(
    "a task that is made is nested under `task`", breaks="sep-2663-result-type-task-on-create", double=DOUBLE
)
def nested_task(reply: Json, context: FaultContext) -> Json:
    if "result" in reply and reply["result"].get("resultType") == "task":
        reply["result"] = {"resultType": "task", "task": reply["result"]}
    return reply


@on_reply("a task works for ever", breaks="sep-2663-tasks-get-status-completed", silent=True, double=DOUBLE)
def never_done(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply:
        kept = {key: value for key, value in reply["result"].items() if key not in PAYLOADS}
        reply["result"] = {**kept, "status": "working"}
    return reply


@on_reply("a task that works has a result", breaks="sep-2663-tasks-get-status-working", double=DOUBLE)
def result_while_working(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply and reply["result"]["status"] == "working":
        reply["result"]["result"] = {"content": []}
    return reply


@on_reply(
    "a tool that reports an error makes its task fail",
    breaks="sep-2663-tool-error-uses-completed-status",
    double=DOUBLE,
)
def tool_error_fails_task(reply: Json, context: FaultContext) -> Json:
    task = reply.get("result", {})
    if context.method == "tasks/get" and task.get("result", {}).get("isError"):
        task.pop("result")
        reply["result"] = {**task, "status": "failed", "error": {"code": -32603, "message": "it went wrong"}}
    return reply


@on_reply(
    "tasks/cancel of a task that has ended is an error",
    breaks="tasks-cancel-terminal-idempotent-ack",
    double=DOUBLE,
)
def second_cancel_refused(reply: Json, context: FaultContext) -> Json:
    ended = context.memory.setdefault("ended", set())
    if context.method == "tasks/get" and "result" in reply and reply["result"]["status"] in ENDS:
        ended.add(context.params.get("taskId"))
    if context.method == "tasks/cancel" and context.params.get("taskId") in ended:
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32602, "message": "it has ended"}}
    return reply


@on_reply(
    "a request that declares the extension is refused", breaks="tasks-lifecycle-bootstrap", double=DOUBLE
)
def shut_to_lifecycle(reply: Json, context: FaultContext) -> Json:
    return refused_opening(reply, context)


@on_result(
    "the result of a tool that is no task has a taskId",
    breaks="tasks-sync-tool-call",
    double=DOUBLE,
    name="greet",
)
def greeting_is_a_task(result: Json, context: FaultContext) -> None:
    result["taskId"] = "1"


@on_reply(
    "the answer that makes a task has a requestState",
    breaks="tasks-create-result-no-request-state",
    double=DOUBLE,
)
def state_of_a_new_task(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and reply.get("result", {}).get("resultType") == "task":
        reply["result"]["requestState"] = "state"
    return reply


@on_reply(
    "a request that declares the extension is refused", breaks="tasks-request-state-bootstrap", double=DOUBLE
)
def shut_to_state(reply: Json, context: FaultContext) -> Json:
    return refused_opening(reply, context)


@on_request(
    "a call of the slow tool becomes no task", breaks="tasks-request-state-removal-setup", double=DOUBLE
)
def task_never_made(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tools/call":
        meta_of(message)[CAPABILITIES_KEY] = {}
    return message


RESULT_EDITS: Final = edited_results(
    "tasks/get",
    (
        "tasks.result-left-out",
        "a completed task has no result",
        "sep-2663-tasks-get-status-completed",
        "result",
        ABSENT,
    ),
    (
        "tasks.failure-without-error",
        "a failed task has no error",
        "sep-2663-tasks-get-status-failed",
        "error",
        ABSENT,
    ),
    (
        "tasks.state-of-a-task",
        "the answer to tasks/get has a requestState",
        "tasks-get-detailed-no-request-state",
        "requestState",
        "state",
    ),
    double=DOUBLE,
)
