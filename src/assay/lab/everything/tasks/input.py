"""Tasks that ask for input."""

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
    on_reply,
    on_request,
    on_result,
)
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.sabotage.saboteur import params_of
from assay.lab.harness.trace.trace import Exchange

from .task import (
    Story,
    acknowledgement_faults,
    ask,
    begin,
    call_tool,
    calls,
    completion_faults,
    creation_faults,
    follow,
    judge_opening,
    judged_end,
    refused_opening,
    stories,
    task_of,
    wanted_keys,
    wants_input,
)

# --- what is asked


TOOL = "test_tool_with_task"


@official_scenario(
    "tasks-mrtr-composition",
    "Questions come before the task, and their answers reach it",
    needs=(HAS_TASKS, fixture_tool(TOOL)),
)
async def drive_tasks_mrtr_composition(stage: Stage) -> None:
    peer = await begin(stage, elicitation={})
    asked = (await call_tool(peer, TOOL)).result
    keys = wanted_keys(asked)
    if not keys:
        return
    accepted = {"action": "accept", "content": {"name": "Alice"}}
    state = {"requestState": asked["requestState"]} if "requestState" in asked else {}
    params = {"name": TOOL, "arguments": {}, "inputResponses": {keys[0]: accepted}, **state}
    task = task_of(await peer.request("tools/call", params))
    if task is not None:
        await follow(peer, task)


@official_scenario(
    "tasks-mrtr-input",
    "Tasks ask for input and go on with it",
    needs=(HAS_TASKS, fixture_tool("confirm_delete"), fixture_tool("multi_input")),
)
async def drive_tasks_mrtr_input(stage: Stage) -> None:
    peer = await begin(stage, elicitation={})
    confirm = task_of(await call_tool(peer, "confirm_delete", filename="old.txt"))
    several = task_of(await call_tool(peer, "multi_input"))
    if confirm is not None:
        await _answer_one(peer, confirm)
    if several is not None:
        await _answer_in_turn(peer, several)


async def _answer_one(peer: Peer, task: str) -> None:
    asked = await follow(peer, task, wants_input)
    keys = wanted_keys(asked.result)
    if keys:
        await _answer(peer, task, keys[0], confirm=True)
        await follow(peer, task)


async def _answer_in_turn(peer: Peer, task: str) -> None:
    asked = await follow(peer, task, lambda seen: len(wanted_keys(seen)) > 1)
    keys = wanted_keys(asked.result)
    if len(keys) > 1:
        await _answer(peer, task, keys[0], name="Alice", confirm=True)
        await follow(peer, task, lambda seen: keys[0] not in wanted_keys(seen))
        await _answer(peer, task, keys[1], name="Alice", confirm=True)
        await follow(peer, task)


async def _answer(peer: Peer, task: str, key: str, **content: Any) -> None:
    accepted = {"action": "accept", "content": content}
    await ask(peer, "tasks/update", task, inputResponses={key: accepted})


@official_check(
    "tasks-mrtr-composition",
    "Questions come before the task",
    requirements=("sep-2663-mrtr-synchronous-before-task-creation",),
)
def judge_tasks_mrtr_composition(trace: Trace) -> Iterator[Observation]:
    for exchange in calls(trace, TOOL):
        if "inputResponses" in exchange.params:
            faults = result_faults(exchange, _second_faults)
            expected = "a task, once the question is answered"
        else:
            faults, expected = result_faults(exchange, _first_faults), "a question, and no task yet"
        yield judged("sep-2663-mrtr-synchronous-before-task-creation", faults, exchange, expected=expected)
    for story in stories(trace, TOOL):
        if "inputResponses" in story.call.params:
            yield from judged_end(
                "sep-2663-mrtr-synchronous-before-task-creation",
                story,
                _end_faults,
                "a completed task that says what was answered",
            )


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


OPENING = "tasks-mrtr-input-bootstrap"
WAITING = "sep-2663-tasks-get-status-input-required"
RESUMED = "tasks-mrtr-tasks-update-resumes"
PARTIAL = "tasks-mrtr-partial-fulfillment"
ACK = '{"resultType": "complete"}'


@official_check("tasks-mrtr-input", "Input for tasks", requirements=(OPENING, WAITING, RESUMED, PARTIAL))
def judge_tasks_mrtr_input(trace: Trace) -> Iterator[Observation]:
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


# --- what the checks must catch


@on_reply(
    "a task ends without what was answered before it",
    breaks="sep-2663-mrtr-synchronous-before-task-creation",
    double=DOUBLE,
)
def answer_lost(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply.get("result", {}):
        reply["result"]["result"]["content"] = [{"type": "text", "text": "Hello, whoever you are!"}]
    return reply


@on_reply("a question has a taskId", breaks="sep-2663-mrtr-synchronous-before-task-creation", double=DOUBLE)
def task_before_answer(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "inputRequests" in reply.get("result", {}):
        reply["result"]["taskId"] = "1"
    return reply


@on_reply(
    "a request that declares the extension is refused", breaks="tasks-mrtr-input-bootstrap", double=DOUBLE
)
def shut_to_input(reply: Json, context: FaultContext) -> Json:
    return refused_opening(reply, context)


@on_request("a task goes on with a part of its input", breaks="tasks-mrtr-partial-fulfillment", double=DOUBLE)
def part_taken_for_all(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tasks/update":
        params = params_of(message)
        params["inputResponses"] = {"name": {}, "confirm": {}, **params.get("inputResponses", {})}
    return message


@on_request("input cancels a task", breaks="tasks-mrtr-tasks-update-resumes", double=DOUBLE)
def answer_ends_task(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tasks/update":
        message["method"] = "tasks/cancel"
        if context.call is not None:
            context.call.set("Mcp-Method", "tasks/cancel")
    return message


@on_result(
    "tasks/update is answered with the task",
    breaks="tasks-mrtr-tasks-update-resumes",
    double=DOUBLE,
    method="tasks/update",
)
def update_tells_task(result: Json, context: FaultContext) -> None:
    result.update(taskId=context.params["taskId"], status="working")


RESULT_EDITS: Final = edited_results(
    "tasks/get",
    (
        "tasks.question-left-out",
        "a task that needs input has no input requests",
        "sep-2663-tasks-get-status-input-required",
        "inputRequests",
        ABSENT,
    ),
    double=DOUBLE,
)
