"""Tasks that ask for input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fixture import HAS_TASKS, fixture_tool
from assay.lab.harness import ABSENT, FaultContext, Json, Observation, Stage, Trace
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.sabotage.saboteur import params_of
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.evidence import no_faults, result_faults
from assay.lab.suite.task_message import (
    acknowledgement_faults,
    completion_faults,
    creation_faults,
    input_keys,
    poll,
    send_about,
    task_of,
    wants_input,
)

from .task import (
    TaskHistory,
    call_tool,
    calls,
    edited_results,
    histories,
    judge_discovery,
    observe_end,
    on_reply,
    on_request,
    on_result,
    open_with_tasks,
)

# --- what is asked


TOOL = "test_tool_with_task"


@official_scenario(
    "tasks-mrtr-composition",
    "Answer a tool that requests input before its task",
    needs=(HAS_TASKS, fixture_tool(TOOL)),
)
async def drive_tasks_mrtr_composition(stage: Stage) -> None:
    peer = await open_with_tasks(stage, elicitation={})
    result = (await call_tool(peer, TOOL)).result
    keys = input_keys(result)
    if not keys:
        return
    accepted = {"action": "accept", "content": {"name": "Alice"}}
    state = {"requestState": result["requestState"]} if "requestState" in result else {}
    params = {"name": TOOL, "arguments": {}, "inputResponses": {keys[0]: accepted}, **state}
    task = task_of(await peer.request("tools/call", params))
    if task is not None:
        await poll(peer, task)


@official_scenario(
    "tasks-mrtr-input",
    "Send input to tasks that request it",
    needs=(HAS_TASKS, fixture_tool("confirm_delete"), fixture_tool("multi_input")),
)
async def drive_tasks_mrtr_input(stage: Stage) -> None:
    peer = await open_with_tasks(stage, elicitation={})
    confirm = task_of(await call_tool(peer, "confirm_delete", filename="old.txt"))
    several = task_of(await call_tool(peer, "multi_input"))
    if confirm is not None:
        await _answer_one(peer, confirm)
    if several is not None:
        await _answer_in_turn(peer, several)


async def _answer_one(peer: Peer, task: str) -> None:
    reply = await poll(peer, task, wants_input)
    keys = input_keys(reply.result)
    if keys:
        await _answer(peer, task, keys[0], confirm=True)
        await poll(peer, task)


async def _answer_in_turn(peer: Peer, task: str) -> None:
    reply = await poll(peer, task, lambda state: len(input_keys(state)) > 1)
    keys = input_keys(reply.result)
    if len(keys) > 1:
        await _answer(peer, task, keys[0], name="Alice", confirm=True)
        await poll(peer, task, lambda state: keys[0] not in input_keys(state))
        await _answer(peer, task, keys[1], name="Alice", confirm=True)
        await poll(peer, task)


async def _answer(peer: Peer, task: str, key: str, **content: Any) -> None:
    accepted = {"action": "accept", "content": content}
    await send_about(peer, "tasks/update", task, inputResponses={key: accepted})


# --- how it is judged

BEFORE_TASK = "sep-2663-mrtr-synchronous-before-task-creation"


@official_check(
    "tasks-mrtr-composition", "Input is requested before the task is created", requirements=(BEFORE_TASK,)
)
def judge_tasks_mrtr_composition(trace: Trace) -> Iterator[Observation]:
    for exchange in calls(trace, TOOL):
        if "inputResponses" in exchange.params:
            faults = result_faults(exchange, _second_faults)
            expected = "a task, after the answer"
        else:
            faults, expected = result_faults(exchange, _first_faults), "an input request, and no task yet"
        yield no_faults(BEFORE_TASK, faults, exchange, expected=expected)
    for history in histories(trace, TOOL):
        if "inputResponses" in history.call.params:
            yield from observe_end(
                BEFORE_TASK, history, _end_faults, "a completed task with the answer in its result"
            )


def _first_faults(result: dict[str, Any]) -> Iterator[str]:
    if result.get("resultType") != "input_required":
        yield f"resultType {result.get('resultType')!r}"
    if not _requests(result):
        yield f"inputRequests {result.get('inputRequests')!r}"
    if "taskId" in result:
        yield "a taskId before the answer"


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


DISCOVERY = "tasks-mrtr-input-bootstrap"
WAITING = "sep-2663-tasks-get-status-input-required"
RESUMED = "tasks-mrtr-tasks-update-resumes"
PARTIAL = "tasks-mrtr-partial-fulfillment"


@official_check(
    "tasks-mrtr-input",
    "Tasks request input and continue with it",
    requirements=(DISCOVERY, WAITING, RESUMED, PARTIAL),
)
def judge_tasks_mrtr_input(trace: Trace) -> Iterator[Observation]:
    yield from judge_discovery(DISCOVERY, trace)
    for row, tool in ((WAITING, "confirm_delete"), (PARTIAL, "multi_input")):
        for exchange in calls(trace, tool):
            if (exchange.result or {}).get("resultType") != "task":
                yield no_faults(row, [str(exchange)], exchange, expected="a task")
    for history in histories(trace, "confirm_delete"):
        yield from _judge_waiting(WAITING, history, 1)
        yield from _judge_resumed(RESUMED, history)
    for history in histories(trace, "multi_input"):
        yield from _judge_waiting(PARTIAL, history, 2)
        yield from _judge_part(history)
        if len(history.updates) > 1:
            yield from _judge_resumed(PARTIAL, history)


def _judge_waiting(requirement: str, history: TaskHistory, count: int) -> Iterator[Observation]:
    """The last tasks/get before the first answer shows the input requests."""
    before = _before_answers(history)
    if before and (history.unsettled or (before[-1].result or {}).get("status") != "working"):
        faults = _waiting_faults(before[-1].result or {}, count)
        expected = f"input_required, for {count} elicitations"
        yield no_faults(requirement, faults, history.call, before[-1], expected=expected)


def _before_answers(history: TaskHistory) -> list[Exchange]:
    updates = history.updates
    return [exchange for exchange in history.gets if not updates or _precedes(exchange, updates[0])]


def _waiting_faults(task: dict[str, Any], count: int) -> Iterator[str]:
    if not wants_input(task):
        yield f"status {task.get('status')!r}"
    if len(_requests(task)) < count:
        yield f"{len(_requests(task))} input requests"
    for key, request in _requests(task).items():
        method = request.get("method") if isinstance(request, dict) else None
        if method != "elicitation/create":
            yield f"method {method!r} under {key!r}"


def _judge_resumed(requirement: str, history: TaskHistory) -> Iterator[Observation]:
    for exchange in history.updates:
        faults = result_faults(exchange, acknowledgement_faults)
        yield no_faults(requirement, faults, exchange, expected='{"resultType": "complete"}')
    if history.updates:
        yield from observe_end(requirement, history, completion_faults, "a completed task, after its input")


def _judge_part(history: TaskHistory) -> Iterator[Observation]:
    """Between the two answers, only the other request is open."""
    if not history.updates:
        return
    first, *later = history.updates
    responses = first.params.get("inputResponses")
    between = [
        exchange
        for exchange in history.gets
        if _precedes(first, exchange) and (not later or _precedes(exchange, later[0]))
    ]
    if between and (later or history.is_decided):
        before = _before_answers(history)
        task = (before[-1].result if before else None) or {}
        left = set(_requests(task)) - set(responses if isinstance(responses, dict) else ())
        faults = _part_faults(between[-1].result or {}, left)
        expected = f"input_required, for {left}"
        yield no_faults(PARTIAL, faults, first, between[-1], expected=expected)


def _part_faults(task: dict[str, Any], left: set[str]) -> Iterator[str]:
    if not wants_input(task):
        yield f"status {task.get('status')!r}"
    if set(_requests(task)) != left:
        yield f"input requests {sorted(_requests(task))}"


def _requests(task: dict[str, Any]) -> dict[str, Any]:
    requests = task.get("inputRequests")
    return requests if isinstance(requests, dict) else {}


def _precedes(exchange: Exchange, other: Exchange) -> bool:
    return exchange.request.frame.n < other.request.frame.n


# --- what the checks must catch


@on_reply("completes a task without the answer", breaks=BEFORE_TASK)
def answer_lost(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply.get("result", {}):
        reply["result"]["result"]["content"] = [{"type": "text", "text": "Hello!"}]
    return reply


@on_reply("adds a taskId to an input request", breaks=BEFORE_TASK)
def task_before_answer(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "inputRequests" in reply.get("result", {}):
        reply["result"]["taskId"] = "1"
    return reply


@on_request("continues a task with part of its input", breaks=PARTIAL)
def part_taken_for_all(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tasks/update":
        params = params_of(message)
        params["inputResponses"] = {"name": {}, "confirm": {}, **params.get("inputResponses", {})}
    return message


@on_request("cancels a task that receives input", breaks=RESUMED)
def answer_ends_task(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tasks/update":
        message["method"] = "tasks/cancel"
        if context.call is not None:
            context.call.set("Mcp-Method", "tasks/cancel")
    return message


@on_result("answers tasks/update with the task", breaks=RESUMED, method="tasks/update")
def update_tells_task(result: Json, context: FaultContext) -> None:
    result.update(taskId=context.params["taskId"], status="working")


RESULT_EDITS: Final = edited_results(
    "tasks/get",
    (
        "tasks.question-left-out",
        "returns no input requests for a task that needs input",
        WAITING,
        "inputRequests",
        ABSENT,
    ),
)
