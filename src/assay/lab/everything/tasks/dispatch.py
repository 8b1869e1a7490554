"""Tasks: how a call becomes a task, and the fields of a task on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fixture import HAS_TASKS, fixture_tool
from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    error_reply,
    observe,
    result_reply,
)
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.sabotage.saboteur import OnReply
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.evidence import answered, no_faults, result_faults
from assay.lab.suite.self_description import as_object
from assay.lab.suite.task_message import (
    FINAL,
    creation_faults,
    duration_faults,
    poll,
    send_about,
    sync_faults,
    task_of,
    wants_input,
)
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND

from .task import (
    METHODS,
    TaskHistory,
    call_tool,
    calls,
    edited_results,
    has_ended,
    histories,
    judge_discovery,
    on_reply,
    open_with_tasks,
)

# --- what is asked


HINT = {"ttl": 60_000, "pollInterval": 100}


@official_scenario(
    "tasks-dispatch-and-envelope",
    "Call tools with and without tasks, and removed methods",
    needs=(HAS_TASKS, *map(fixture_tool, ("greet", "slow_compute", "failing_job", "confirm_delete"))),
)
async def drive_tasks_dispatch_and_envelope(stage: Stage) -> None:
    peer = await open_with_tasks(stage, elicitation={})
    await call_tool(peer, "greet", name="World")
    await peer.request("tools/call", {"name": "greet", "arguments": {"name": "legacy"}, "task": HINT})
    await call_tool(peer, "slow_compute", seconds=0, label="instant")
    await call_tool(peer, "failing_job")
    task = task_of(await call_tool(peer, "confirm_delete", filename="old.txt"))
    if task is not None:
        await send_about(peer, "tasks/get", task)
        await _try_removed_methods(peer, task)
    await send_about(peer, "tasks/get", "no-such-task")


async def _try_removed_methods(peer: Peer, task: str) -> None:
    """Removed methods are requested for a task that exists."""
    await peer.request("tasks/result", {"taskId": task})
    await peer.request("tasks/list")
    await poll(peer, task, wants_input)
    await send_about(peer, "tasks/update", task, inputResponses={"unknown-key": {"ignored": True}})
    await send_about(peer, "tasks/get", task)
    await send_about(peer, "tasks/cancel", task)


@official_scenario(
    "tasks-wire-fields",
    "Read a task until and after it has ended",
    needs=(HAS_TASKS, fixture_tool("slow_compute")),
)
async def drive_tasks_wire_fields(stage: Stage) -> None:
    peer = await open_with_tasks(stage)
    task = task_of(await call_tool(peer, "slow_compute", seconds=1, label="fields"))
    if task is not None:
        await poll(peer, task)
        await send_about(peer, "tasks/get", task)


# --- how it is judged


DISPATCH = "tasks-dispatch-bootstrap"
RESULT_REMOVED = "sep-2663-tasks-result-removed-method-not-found"
LIST_REMOVED = "tasks-removed-tasks-list"
UNHINTED = "tasks-server-directed-creation-no-hint"
HINTED = "sep-2663-legacy-task-param-ignored"
INSTANT = "tasks-immediate-result-shortcut"
COMPLETE = "tasks-result-type-complete-on-non-task-responses"
DURABLE = "sep-2663-durable-create-strong-consistency"
UNKNOWN = "sep-2663-tasks-get-invalid-task-id-32602"
REMOVED = {"tasks/result": RESULT_REMOVED, "tasks/list": LIST_REMOVED}


@official_check(
    "tasks-dispatch-and-envelope",
    "Calls become tasks as the server decides, and removed methods are unknown",
    requirements=(
        DISPATCH,
        RESULT_REMOVED,
        LIST_REMOVED,
        UNHINTED,
        HINTED,
        INSTANT,
        COMPLETE,
        DURABLE,
        UNKNOWN,
    ),
)
def judge_tasks_dispatch_and_envelope(trace: Trace) -> Iterator[Observation]:
    yield from judge_discovery(DISPATCH, trace)
    yield from _judge_calls(trace)
    yield from _judge_kinds(trace)
    for history in histories(trace, "confirm_delete"):
        if history.gets:
            yield _judge_durable(history)
            yield from _judge_unknown(trace, history)


def _judge_calls(trace: Trace) -> Iterator[Observation]:
    for exchange in calls(trace, "failing_job"):
        expected = "a task, although the call has no `task` parameter"
        yield no_faults(UNHINTED, result_faults(exchange, creation_faults), exchange, expected=expected)
    for exchange in calls(trace, "greet"):
        if "task" in exchange.params:
            expected = "the result at once: a `task` parameter has no meaning"
            yield no_faults(HINTED, result_faults(exchange, sync_faults), exchange, expected=expected)
    for exchange in calls(trace, "slow_compute"):
        expected = "the result at once, or a task"
        yield no_faults(INSTANT, result_faults(exchange, _instant_faults), exchange, expected=expected)


def _instant_faults(result: dict[str, Any]) -> Iterator[str]:
    is_task = result.get("resultType") == "task"
    return creation_faults(result) if is_task else sync_faults(result)


def _judge_kinds(trace: Trace) -> Iterator[Observation]:
    for exchange in (*calls(trace, "greet"), *_task_requests(trace)):
        if exchange.result is not None:
            kind = exchange.result.get("resultType")
            expected = f'resultType "complete" of {exchange.method}'
            yield observe(
                COMPLETE, kind == "complete", exchange, expected=expected, observed=f"resultType {kind!r}"
            )


def _task_requests(trace: Trace) -> Iterator[Exchange]:
    return (exchange for method in METHODS for exchange in answered(trace, method))


def _judge_durable(history: TaskHistory) -> Observation:
    """A new task can be read at once."""
    first = history.gets[0]
    holds = (first.result or {}).get("taskId") == first.params.get("taskId")
    return observe(DURABLE, holds, history.call, first, expected="the new task", observed=first)


def _judge_unknown(trace: Trace, history: TaskHistory) -> Iterator[Observation]:
    """Only if a task can be read: then only the method or the id is a reason to refuse."""
    if history.gets[0].result is None:
        return
    for method, row in REMOVED.items():
        for exchange in answered(trace, method):
            holds = exchange.code == METHOD_NOT_FOUND
            yield observe(row, holds, exchange, expected=f"error {METHOD_NOT_FOUND}", observed=exchange)
    for exchange in answered(trace, "tasks/get", taskId="no-such-task"):
        holds = exchange.code == INVALID_PARAMS
        expected = f"error {INVALID_PARAMS}: the task does not exist"
        yield observe(UNKNOWN, holds, history.gets[0], exchange, expected=expected, observed=exchange)


FIELDS = "tasks-wire-fields-bootstrap"
NAMES = "tasks-wire-field-renames"
ALIVE = "tasks-no-early-ttl-expiry"
UNRELATED = "tasks-no-related-task-meta-on-inlined-result"
RELATED_KEY = "io.modelcontextprotocol/related-task"


@official_check(
    "tasks-wire-fields",
    "Tasks have the fields of this revision",
    requirements=(FIELDS, NAMES, ALIVE, UNRELATED),
)
def judge_tasks_wire_fields(trace: Trace) -> Iterator[Observation]:
    yield from judge_discovery(FIELDS, trace)
    for exchange in calls(trace, "slow_compute"):
        yield _judge_names(exchange)
    for history in histories(trace, "slow_compute"):
        for exchange in history.gets:
            if exchange.result is not None:
                yield _judge_names(exchange)
                yield from _judge_relation(exchange, exchange.result)
        yield from _judge_life(history)


def _judge_names(exchange: Exchange) -> Observation:
    expected = "ttlMs and pollIntervalMs in whole milliseconds, and no ttl or pollInterval"
    return no_faults(NAMES, result_faults(exchange, duration_faults), exchange, expected=expected)


def _judge_relation(exchange: Exchange, task: dict[str, Any]) -> Iterator[Observation]:
    result = task.get("result")
    if isinstance(result, dict):
        meta = result.get("_meta")
        faults = [f"_meta[{RELATED_KEY!r}]"] if isinstance(meta, dict) and RELATED_KEY in meta else []
        yield no_faults(UNRELATED, faults, exchange, expected=f"a result without {RELATED_KEY}")


def _judge_life(history: TaskHistory) -> Iterator[Observation]:
    """A task that has ended can be read again during its time to live."""
    created = history.call.request.frame.t
    ended: dict[str, Any] | None = None
    for exchange in history.gets:
        task = exchange.result or {}
        if ended is not None and _lives(ended, exchange, created):
            holds = all(task.get(key) == ended.get(key) for key in ("taskId", "status"))
            expected = "the task, until its ttlMs is over"
            yield observe(ALIVE, holds, history.call, exchange, expected=expected, observed=exchange)
        if ended is None and task.get("status") in FINAL:
            ended = task


def _lives(task: dict[str, Any], exchange: Exchange, created: float) -> bool:
    """Whether the reply came within the time to live, counted from before the task was created."""
    ttl = task.get("ttlMs")
    if exchange.answer is None or ttl is None:
        return exchange.answer is not None
    is_number = isinstance(ttl, int | float) and not isinstance(ttl, bool)
    return is_number and (exchange.answer.frame.t - created) * 1000 < ttl


# --- what the checks must catch


@on_reply("does not find a task at the first tasks/get", breaks=DURABLE)
def there_in_a_while(reply: Json, context: FaultContext) -> Json:
    known = context.memory.setdefault("known", set())
    name = context.params.get("taskId")
    if context.method == "tasks/get" and name not in known:
        known.add(name)
        return error_reply(reply, INVALID_PARAMS, "no such task")
    return reply


@on_reply("makes a task because of a `task` parameter", breaks=HINTED)
def hint_obeyed(reply: Json, context: FaultContext) -> Json:
    if "task" in context.params and "result" in reply:
        reply["result"].update(resultType="task", taskId="1", status="working")
    return reply


@on_reply("answers an unknown task with -32603", breaks=UNKNOWN)
def unknown_task_breaks(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "error" in reply:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply


def _answer_removed(method: str, result: Json) -> OnReply:
    return lambda reply, context: result_reply(reply, result) if context.method == method else reply


REMOVED_METHODS: Final = tuple(
    on_reply(f"answers {method}", id=f"tasks.{name}", breaks=REMOVED[method])(
        _answer_removed(method, {"resultType": "complete", key: []})
    )
    for name, method, key in (
        ("old-result-method", "tasks/result", "content"),
        ("old-list-method", "tasks/list", "tasks"),
    )
)


@on_reply("returns an empty result at once", breaks=INSTANT, scenario="tasks-dispatch-and-envelope")
def instant_without_content(reply: Json, context: FaultContext) -> Json:
    if as_object(context.params.get("arguments")).get("seconds") == 0:
        reply["result"] = {"resultType": "complete", "content": []}
    return reply


@on_reply("makes no task without a `task` parameter", breaks=UNHINTED)
def task_only_on_hint(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "failing_job" and "task" not in context.params:
        reply["result"] = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
    return reply


@on_reply("forgets an ended task before its ttlMs", breaks=ALIVE)
def gone_at_its_end(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and has_ended(reply, context):
        return error_reply(reply, INVALID_PARAMS, "it has expired")
    return reply


@on_reply("adds the related-task key to the result in a task", breaks=UNRELATED)
def related_task(reply: Json, context: FaultContext) -> Json:
    result = reply.get("result", {}).get("result")
    if context.method == "tasks/get" and result:
        result["_meta"] = {"io.modelcontextprotocol/related-task": {"taskId": context.params["taskId"]}}
    return reply


@on_reply("returns a fractional ttlMs", breaks=NAMES)
def half_milliseconds(reply: Json, context: FaultContext) -> Json:
    if "taskId" in reply.get("result", {}):
        reply["result"]["ttlMs"] += 0.5
    return reply


@on_reply("names durations `ttl` and `pollInterval`", breaks=NAMES)
def old_duration_names(reply: Json, context: FaultContext) -> Json:
    task = reply.get("result", {})
    if "taskId" in task:
        task["ttl"], task["pollInterval"] = task.pop("ttlMs"), task.pop("pollIntervalMs")
    return reply


RESULT_EDITS: Final = edited_results(
    "tasks/get",
    ("tasks.kind-left-out", "answers tasks/get without resultType", COMPLETE, "resultType", ABSENT),
)
