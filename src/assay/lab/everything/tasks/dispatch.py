"""Tasks: how a call becomes a task, and the fields of a task on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.everything.evidence import answered, judged, result_faults
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
)
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND

from .task import (
    ENDS,
    Story,
    ask,
    begin,
    call_tool,
    calls,
    creation_faults,
    duration_faults,
    follow,
    judge_opening,
    refused_opening,
    stories,
    sync_faults,
    task_of,
    wants_input,
)

# --- what is asked


HINT = {"ttl": 60_000, "pollInterval": 100}


@official_scenario(
    "tasks-dispatch-and-envelope",
    "What is a task, what is none, and what has gone",
    needs=(HAS_TASKS, *map(fixture_tool, ("greet", "slow_compute", "failing_job", "confirm_delete"))),
)
async def drive_tasks_dispatch_and_envelope(stage: Stage) -> None:
    peer = await begin(stage, elicitation={})
    await call_tool(peer, "greet", name="World")
    await peer.request("tools/call", {"name": "greet", "arguments": {"name": "legacy"}, "task": HINT})
    await call_tool(peer, "slow_compute", seconds=0, label="instant")
    await call_tool(peer, "failing_job")
    task = task_of(await call_tool(peer, "confirm_delete", filename="old.txt"))
    if task is not None:
        await ask(peer, "tasks/get", task)
        await _use(peer, task)
    await ask(peer, "tasks/get", "no-such-task")


async def _use(peer: Peer, task: str) -> None:
    """What has gone is asked about a task that is there."""
    await peer.request("tasks/result", {"taskId": task})
    await peer.request("tasks/list")
    await follow(peer, task, wants_input)
    await ask(peer, "tasks/update", task, inputResponses={"unknown-key": {"ignored": True}})
    await ask(peer, "tasks/get", task)
    await ask(peer, "tasks/cancel", task)


@official_scenario(
    "tasks-wire-fields",
    "The fields of a task, and how long it can be read",
    needs=(HAS_TASKS, fixture_tool("slow_compute")),
)
async def drive_tasks_wire_fields(stage: Stage) -> None:
    peer = await begin(stage)
    task = task_of(await call_tool(peer, "slow_compute", seconds=1, label="fields"))
    if task is not None:
        await follow(peer, task)
        await ask(peer, "tasks/get", task)


# --- how it is judged


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
    requirements=(OPENING, RESULT_GONE, LIST_GONE, UNHINTED, HINTED, INSTANT, KIND, DURABLE, UNKNOWN),
)
def judge_tasks_dispatch_and_envelope(trace: Trace) -> Iterator[Observation]:
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


TASKS_WIRE_FIELDS_OPENING = "tasks-wire-fields-bootstrap"
NAMES = "tasks-wire-field-renames"
ALIVE = "tasks-no-early-ttl-expiry"
UNRELATED = "tasks-no-related-task-meta-on-inlined-result"
RELATED_KEY = "io.modelcontextprotocol/related-task"


@official_check(
    "tasks-wire-fields",
    "The fields of a task",
    requirements=(TASKS_WIRE_FIELDS_OPENING, NAMES, ALIVE, UNRELATED),
)
def judge_tasks_wire_fields(trace: Trace) -> Iterator[Observation]:
    yield from judge_opening(TASKS_WIRE_FIELDS_OPENING, trace)
    for exchange in calls(trace, "slow_compute"):
        yield _judge_names(exchange)
    for story in stories(trace, "slow_compute"):
        for exchange in story.gets:
            if exchange.result is not None:
                yield _judge_names(exchange)
                yield from _judge_relation(exchange, exchange.result)
        yield from _judge_life(story)


def _judge_names(exchange: Exchange) -> Observation:
    expected = "ttlMs and pollIntervalMs in whole milliseconds, and no ttl or pollInterval"
    return judged(NAMES, result_faults(exchange, duration_faults), exchange, expected=expected)


def _judge_relation(exchange: Exchange, task: dict[str, Any]) -> Iterator[Observation]:
    result = task.get("result")
    if isinstance(result, dict):
        meta = result.get("_meta")
        faults = [f"_meta[{RELATED_KEY!r}]"] if isinstance(meta, dict) and RELATED_KEY in meta else []
        yield judged(UNRELATED, faults, exchange, expected=f"a result without {RELATED_KEY}")


def _judge_life(story: Story) -> Iterator[Observation]:
    """A task that has ended can be read again while its time to live lasts."""
    created = story.call.request.frame.t
    ended: dict[str, Any] | None = None
    for exchange in story.gets:
        if ended is not None and exchange.answer is not None and _lives(ended, exchange, created):
            seen = exchange.result or {}
            holds = seen.get("taskId") == ended.get("taskId") and seen.get("status") == ended.get("status")
            faults = [] if holds else [str(exchange)]
            yield judged(ALIVE, faults, story.call, exchange, expected="the task, as long as its ttlMs")
        if ended is None and (exchange.result or {}).get("status") in ENDS:
            ended = exchange.result


def _lives(task: dict[str, Any], exchange: Exchange, created: float) -> bool:
    """Whether the answer came before the task may be gone, counted from before it was made."""
    ttl = task.get("ttlMs")
    if ttl is None:
        return True
    assert exchange.answer is not None
    is_number = isinstance(ttl, int | float) and not isinstance(ttl, bool)
    return is_number and (exchange.answer.frame.t - created) * 1000 < ttl


# --- what the checks must catch


@on_reply(
    "the first tasks/get of a task does not find it",
    breaks="sep-2663-durable-create-strong-consistency",
    double=DOUBLE,
)
def there_in_a_while(reply: Json, context: FaultContext) -> Json:
    known = context.memory.setdefault("known", set())
    name = context.params.get("taskId")
    if context.method == "tasks/get" and name not in known:
        known.add(name)
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32602, "message": "no such task"}}
    return reply


@on_reply("a `task` parameter makes a task", breaks="sep-2663-legacy-task-param-ignored", double=DOUBLE)
def hint_obeyed(reply: Json, context: FaultContext) -> Json:
    if "task" in context.params and "result" in reply:
        reply["result"].update(resultType="task", taskId="1", status="working")
    return reply


@on_reply(
    "an unknown task is answered with -32603",
    breaks="sep-2663-tasks-get-invalid-task-id-32602",
    double=DOUBLE,
)
def unknown_task_breaks(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "error" in reply:
        reply["error"]["code"] = -32603
    return reply


@on_reply("tasks/result is answered", breaks="sep-2663-tasks-result-removed-method-not-found", double=DOUBLE)
def old_result_method(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/result":
        return {"jsonrpc": "2.0", "id": reply["id"], "result": {"resultType": "complete", "content": []}}
    return reply


@on_reply(
    "a request that declares the extension is refused", breaks="tasks-dispatch-bootstrap", double=DOUBLE
)
def shut_to_dispatch(reply: Json, context: FaultContext) -> Json:
    return refused_opening(reply, context)


@on_reply(
    "the result that comes at once is empty",
    breaks="tasks-immediate-result-shortcut",
    scenario="tasks-dispatch-and-envelope",
    double=DOUBLE,
)
def instant_without_content(reply: Json, context: FaultContext) -> Json:
    given = context.params.get("arguments")
    if isinstance(given, dict) and given.get("seconds") == 0:
        reply["result"] = {"resultType": "complete", "content": []}
    return reply


@on_reply("tasks/list is answered", breaks="tasks-removed-tasks-list", double=DOUBLE)
def old_list_method(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/list":
        return {"jsonrpc": "2.0", "id": reply["id"], "result": {"resultType": "complete", "tasks": []}}
    return reply


@on_reply(
    "without a `task` parameter there is no task",
    breaks="tasks-server-directed-creation-no-hint",
    double=DOUBLE,
)
def task_only_on_hint(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "failing_job" and "task" not in context.params:
        reply["result"] = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
    return reply


@on_reply(
    "a task that has ended is forgotten before its ttlMs", breaks="tasks-no-early-ttl-expiry", double=DOUBLE
)
def gone_at_its_end(reply: Json, context: FaultContext) -> Json:
    ended = context.memory.setdefault("ended", set())
    if context.method == "tasks/get" and context.params.get("taskId") in ended:
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32602, "message": "it has expired"}}
    if context.method == "tasks/get" and "result" in reply and reply["result"]["status"] in ENDS:
        ended.add(context.params.get("taskId"))
    return reply


@on_reply(
    "the result in a task has the related-task key",
    breaks="tasks-no-related-task-meta-on-inlined-result",
    double=DOUBLE,
)
def related_task(reply: Json, context: FaultContext) -> Json:
    result = reply.get("result", {}).get("result")
    if context.method == "tasks/get" and result:
        result["_meta"] = {"io.modelcontextprotocol/related-task": {"taskId": context.params["taskId"]}}
    return reply


@on_reply("ttlMs is a fraction", breaks="tasks-wire-field-renames", double=DOUBLE)
def half_milliseconds(reply: Json, context: FaultContext) -> Json:
    if "taskId" in reply.get("result", {}):
        reply["result"]["ttlMs"] += 0.5
    return reply


@on_reply("a task has `ttl` and `pollInterval`", breaks="tasks-wire-field-renames", double=DOUBLE)
def old_duration_names(reply: Json, context: FaultContext) -> Json:
    task = reply.get("result", {})
    if "taskId" in task:
        task["ttl"], task["pollInterval"] = task.pop("ttlMs"), task.pop("pollIntervalMs")
    return reply


@on_reply(
    "a request that declares the extension is refused", breaks="tasks-wire-fields-bootstrap", double=DOUBLE
)
def shut_to_fields(reply: Json, context: FaultContext) -> Json:
    return refused_opening(reply, context)


RESULT_EDITS: Final = edited_results(
    "tasks/get",
    (
        "tasks.kind-left-out",
        "tasks/get has no resultType",
        "tasks-result-type-complete-on-non-task-responses",
        "resultType",
        ABSENT,
    ),
    double=DOUBLE,
)
