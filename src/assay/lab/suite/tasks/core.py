"""Tasks as part of the core: created, read, listed, cancelled, and refused."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    edited_results,
    error_reply,
    observe,
    on_reply,
    on_request,
    on_result,
    result_reply,
    scenario,
)
from assay.lab.harness.driver.message_meta import PREFIX
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.question import ELICIT
from assay.lab.harness.need import A_CALLABLE_TOOL, Need, declares
from assay.lab.harness.sabotage.saboteur import WITH_TOKENS, Double, LocalAnswer, params_of
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.listing import declaration
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.asking.question import accept
from assay.lab.suite.evidence import answered, no_faults
from assay.lab.suite.self_description import as_object
from assay.lab.suite.task_message import FINAL, STATUSES, UNDER_WAY, task_faults
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND
from assay.revisions.revision import Revision, TaskForm

# --- what is asked


RELATED: Final = f"{PREFIX}related-task"
UNKNOWN: Final = "no-such-task-of-the-lab"
TTL: Final = 60_000
MISFIT: Final = {"what no tool takes": [None]}
METHODS: Final = ("tasks/get", "tasks/result", "tasks/cancel")
DECLARED: Final = ("tasks", "requests", "tools", "call")


def support_of(tool: dict[str, Any]) -> Any:
    return as_object(tool.get("execution")).get("taskSupport", "forbidden")


def _is_core(revision: Revision) -> bool:
    return revision.tasks is TaskForm.CORE


def _runnable(facts: Facts) -> list[dict[str, Any]]:
    """Tools that run as tasks, the quickest first."""
    tools = [tool for tool in facts.callable_tools if support_of(tool) in ("optional", "required")]
    return sorted(tools, key=lambda tool: facts.calls_of(tool).seconds)


A_TASK_TOOL: Final = Need(
    lambda facts: bool(_runnable(facts)),
    "has no tool with `taskSupport` that may be called: allow calls with --allow-effects",
    ("--allow-effects",),
)
NO_TASKS: Final = Need(lambda facts: not facts.declares("tasks"), "declares `tasks`")


@scenario(
    "Run a tool as a task of the core, read its result twice, and cancel another",
    exercises=("tasks.core-created", "tasks.core-states", "tasks.core-results", "tasks.core-cancelled"),
    needs=(declares(*DECLARED), A_TASK_TOOL),
    window=_is_core,
)
async def drive_core_running(stage: Stage) -> None:
    peer = await stage.open(elicitation={})
    peer.responders[ELICIT] = lambda params: {"result": accept(params.get("requestedSchema"))}
    tool = _runnable(stage.facts)[0]
    arguments = stage.facts.arguments_for(tool)
    task = _task_of(await _call(peer, tool, arguments))
    if task is None:
        return
    await _about(peer, "tasks/get", task)
    for method in ("tasks/result", "tasks/get", "tasks/result", "tasks/cancel", "tasks/get"):
        await _about(peer, method, task)
    second = _task_of(await _call(peer, tool, arguments))
    if second is not None:
        for method in ("tasks/cancel", "tasks/get"):
            await _about(peer, method, second)
    failing = _task_of(await _call(peer, tool, MISFIT))
    if failing is not None:
        for method in ("tasks/result", "tasks/get"):
            await _about(peer, method, failing)
    if stage.facts.declares("tasks", "list"):
        await peer.pages("tasks/list", "tasks")


async def _call(peer: Peer, tool: dict[str, Any], arguments: dict[str, Any]) -> Reply:
    return await peer.request(
        "tools/call", {"name": tool["name"], "arguments": arguments, "task": {"ttl": TTL}}
    )


async def _about(peer: Peer, method: str, task: str) -> Reply:
    return await peer.request(method, {"taskId": task})


def _task_of(reply: Reply) -> str | None:
    task = as_object(reply.result.get("task")).get("taskId")
    return task if isinstance(task, str) else None


@scenario(
    "Ask for tasks of the core that do not exist, and of tools that have none",
    exercises=("tasks.core-refused",),
    needs=(declares(*DECLARED), A_CALLABLE_TOOL),
    window=_is_core,
)
async def drive_core_refusals(stage: Stage) -> None:
    peer = await stage.open()
    for method in METHODS:
        await _about(peer, method, UNKNOWN)
    if stage.facts.declares("tasks", "list"):
        await peer.request("tasks/list", {"cursor": UNKNOWN})
    tools = await peer.pages("tools/list", "tools")
    support = {tool["name"]: support_of(tool) for tool in map(as_object, tools) if "name" in tool}
    for wanted in ("forbidden", "required"):
        tool = next((tool for tool in stage.facts.quick_tools if support.get(tool["name"]) == wanted), None)
        if tool is not None and wanted == "forbidden":
            await _call(peer, tool, stage.facts.arguments_for(tool))
        elif tool is not None:
            params = {"name": tool["name"], "arguments": stage.facts.arguments_for(tool)}
            await peer.request("tools/call", params)


@scenario(
    "Ask a server without tasks for a task",
    exercises=("tasks.core-ignored",),
    needs=(NO_TASKS, A_CALLABLE_TOOL),
    window=_is_core,
)
async def drive_core_absent(stage: Stage) -> None:
    peer = await stage.open(elicitation={})
    tool = stage.facts.quick_tools[0]
    arguments = stage.facts.arguments_for(tool)
    await peer.request("tools/call", {"name": tool["name"], "arguments": arguments})
    await _call(peer, tool, arguments)


# --- how it is judged


class CoreStory(Struct, frozen=True):
    """A task, with all requests about it in order."""

    id: str
    call: Exchange
    later: tuple[Exchange, ...]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.call.frames

    def results_of(self, *methods: str) -> list[tuple[Exchange, dict[str, Any]]]:
        return [
            (exchange, exchange.result)
            for exchange in self.later
            if exchange.method in methods and exchange.result is not None
        ]


def _stories(trace: Trace) -> Iterator[CoreStory]:
    about = [exchange for method in METHODS for exchange in answered(trace, method)]
    about.sort(key=lambda exchange: exchange.request.frame.n)
    for call in answered(trace, "tools/call"):
        task = as_object((call.result or {}).get("task")).get("taskId")
        if isinstance(task, str) and "task" in call.params:
            yield CoreStory(task, call, tuple(each for each in about if each.params.get("taskId") == task))


@check(
    "Tools run as tasks are declared",
    requirements={"TSK-01": "A tool has `taskSupport`, but `tasks` is not declared"},
    everywhere=True,
)
def judge_core_declared(trace: Trace) -> Iterator[Observation]:
    declared = declaration(trace)
    if declared is None:
        return
    for exchange in trace.exchanges("tools/list"):
        tools = [tool for tool in exchange.objects("tools") if support_of(tool) in ("optional", "required")]
        if tools:
            holds, expected = declared.has(*DECLARED), "`tasks.requests.tools.call`"
            yield observe("TSK-01", holds, declared, exchange, expected=expected, observed="not declared")


@check(
    "Calls become tasks of the core",
    requirements={
        "TSK-09": "A call that asked for a task got no task",
        "TSK-10": "The id of a task is no text, or not new",
        "TSK-11": "A task does not begin as `working`",
        "TSK-16": "A task has no `createdAt` and `lastUpdatedAt`",
        "TSK-17": "A task has no `ttl`",
    },
)
def judge_core_created(trace: Trace) -> Iterator[Observation]:
    ids: list[Any] = []
    for exchange in answered(trace, "tools/call"):
        if "task" not in exchange.params or exchange.params.get("arguments") == MISFIT:
            continue
        task = as_object((exchange.result or {}).get("task"))
        yield observe("TSK-09", bool(task), exchange, expected="a result with `task`", observed=exchange)
        if task:
            fresh = isinstance(task.get("taskId"), str) and task["taskId"] not in ids
            ids.append(task.get("taskId"))
            yield observe("TSK-10", fresh, exchange, expected="a new id", observed=repr(task.get("taskId")))
            status = repr(task.get("status"))
            holds = task.get("status") == "working"
            yield observe("TSK-11", holds, exchange, expected="working", observed=status)
            yield from _judge_fields(exchange, task)
    for story in _stories(trace):
        for exchange, task in story.results_of("tasks/get"):
            yield from _judge_fields(exchange, task)


def _judge_fields(exchange: Exchange, task: dict[str, Any]) -> Iterator[Observation]:
    faults = [fault for fault in task_faults(task) if fault.startswith(("createdAt", "lastUpdatedAt"))]
    yield no_faults("TSK-16", faults, exchange, expected="ISO 8601 times")
    ttl = task.get("ttl", "none")
    holds = ttl is None or (isinstance(ttl, int | float) and not isinstance(ttl, bool) and ttl > 0)
    yield observe("TSK-17", holds, exchange, expected="milliseconds, or null", observed=f"ttl {ttl!r}")


@check(
    "Tasks of the core move as the table allows",
    requirements={
        "TSK-12": "A task has an unknown status, or moved where it must not",
        "TSK-13": "A task that had ended changed its status",
        "TSK-14": "A task whose questions were answered is still `input_required`",
        "TSK-32": "A failed task does not say why",
    },
)
def judge_core_states(trace: Trace) -> Iterator[Observation]:
    for story in _stories(trace):
        before: tuple[Exchange, Any] | None = None
        for exchange, task in story.results_of("tasks/get"):
            status = task.get("status")
            known, expected = status in STATUSES, "one of " + ", ".join(STATUSES)
            yield observe("TSK-12", known, exchange, expected=expected, observed=repr(status))
            if before is not None and before[1] in FINAL:
                holds, expected = status == before[1], f"{before[1]}, as before"
                yield observe("TSK-13", holds, before[0], exchange, expected=expected, observed=repr(status))
            if before is not None and before[1] == "input_required" and _has_result_before(story, exchange):
                holds, expected = status != "input_required", "another status after the answers"
                yield observe("TSK-14", holds, before[0], exchange, expected=expected, observed=repr(status))
            if status == "failed":
                holds = bool(task.get("statusMessage"))
                yield observe("TSK-32", holds, exchange, expected="a statusMessage", observed=exchange)
            before = exchange, status


def _has_result_before(story: CoreStory, exchange: Exchange) -> bool:
    return any(
        each.request.frame.n < exchange.request.frame.n for each, _ in story.results_of("tasks/result")
    )


@check(
    "Results of tasks of the core are complete",
    requirements={
        "TSK-20": "tasks/result has no result of the tool, or another one the second time",
        "TSK-21": "tasks/result was answered before the task had ended",
        "TSK-22": "tasks/result does not name its task in `_meta`",
    },
)
def judge_core_results(trace: Trace) -> Iterator[Observation]:
    for story in _stories(trace):
        results = story.results_of("tasks/result")
        for exchange, result in results:
            named = as_object(as_object(result.get("_meta")).get(RELATED)).get("taskId")
            expected = f"{RELATED} with the task"
            yield observe("TSK-22", named == story.id, exchange, expected=expected, observed=repr(named))
            is_result, expected = isinstance(result.get("content"), list), "the result of the tool"
            yield observe("TSK-20", is_result, exchange, expected=expected, observed=exchange)
            later = [task for each, task in story.results_of("tasks/get") if _is_after(each, exchange)]
            if later:
                status = later[0].get("status")
                holds = status not in UNDER_WAY
                yield observe("TSK-21", holds, exchange, expected="an ended task", observed=repr(status))
        for (first, one_result), (second, other) in itertools.pairwise(results):
            same = one_result.get("content") == other.get("content")
            yield observe("TSK-20", same, first, second, expected="the same result", observed=second)


def _is_after(exchange: Exchange, other: Exchange) -> bool:
    return exchange.request.frame.n > other.request.frame.n


@check(
    "Tasks of the core are cancelled and listed",
    requirements={
        "TSK-27": "A task is not in the list",
        "TSK-28": "The cancellation of an ended task was not refused with -32602",
        "TSK-29": "A cancelled task is not `cancelled`",
    },
)
def judge_core_cancelled(trace: Trace) -> Iterator[Observation]:
    listed = {task.get("taskId") for page in trace.exchanges("tasks/list") for task in page.objects("tasks")}
    pages = [page for page in answered(trace, "tasks/list") if page.result is not None]
    for story in _stories(trace):
        if pages and "cursor" not in pages[0].params:
            holds, expected = story.id in listed, f"the task {story.id}"
            yield observe(
                "TSK-27", holds, story, pages[0], expected=expected, observed=f"{len(listed)} tasks"
            )
        ended = next((each for each, _ in story.results_of("tasks/result")), None)
        for exchange in (each for each in story.later if each.method == "tasks/cancel"):
            if ended is not None and _is_after(exchange, ended):
                holds, expected = exchange.code == INVALID_PARAMS, f"error {INVALID_PARAMS}"
                yield observe("TSK-28", holds, exchange, expected=expected, observed=exchange)
            elif exchange.result is not None:
                yield from _judge_cancelled(story, exchange)


def _judge_cancelled(story: CoreStory, cancellation: Exchange) -> Iterator[Observation]:
    after = [each for each in story.results_of("tasks/get") if _is_after(each[0], cancellation)]
    for exchange, task in [(cancellation, cancellation.result or {}), *after]:
        holds, status = task.get("status") == "cancelled", repr(task.get("status"))
        yield observe("TSK-29", holds, exchange, expected="cancelled", observed=status)


@check(
    "Tasks that do not exist, and tools without tasks, are refused",
    requirements={
        "TSK-05": "A call that asked for a task, of a tool without tasks, was not refused with -32601",
        "TSK-07": "A call without a task, of a tool that needs one, was not refused with -32601",
        "TSK-31": "An unknown task or cursor was not refused with -32602",
    },
)
def judge_core_refused(trace: Trace) -> Iterator[Observation]:
    for method in METHODS:
        for exchange in answered(trace, method, taskId=UNKNOWN):
            holds, expected = exchange.code == INVALID_PARAMS, f"error {INVALID_PARAMS}"
            yield observe("TSK-31", holds, exchange, expected=expected, observed=exchange)
    for exchange in answered(trace, "tasks/list", cursor=UNKNOWN):
        holds, expected = exchange.code == INVALID_PARAMS, f"error {INVALID_PARAMS}"
        yield observe("TSK-31", holds, exchange, expected=expected, observed=exchange)
    pages = trace.exchanges("tools/list")
    support = {tool.get("name"): support_of(tool) for page in pages for tool in page.objects("tools")}
    for exchange in answered(trace, "tools/call"):
        kind, asks = support.get(exchange.params.get("name")), "task" in exchange.params
        if kind == "forbidden" and asks:
            holds, expected = exchange.code == METHOD_NOT_FOUND, f"error {METHOD_NOT_FOUND}"
            yield observe("TSK-05", holds, exchange, expected=expected, observed=exchange)
        elif kind == "required" and not asks:
            # The section on errors allows -32600 as well.
            holds = exchange.code in (METHOD_NOT_FOUND, -32600)
            expected = f"error {METHOD_NOT_FOUND}"
            yield observe("TSK-07", holds, exchange, expected=expected, observed=exchange)


@check(
    "Servers without tasks ignore that a call asks for one",
    requirements={"TSK-08": "A call was not served because it asked for a task"},
)
def judge_core_ignored(trace: Trace) -> Iterator[Observation]:
    plain: Exchange | None = None
    for exchange in answered(trace, "tools/call"):
        if "task" not in exchange.params:
            plain = exchange
        elif plain is not None and plain.result is not None:
            holds = isinstance((exchange.result or {}).get("content"), list)
            yield observe("TSK-08", holds, plain, exchange, expected="the result", observed=exchange)


# --- what the checks must catch


RUNNING, REFUSALS = "tasks.core-running", "tasks.core-refusals"


def _asks(context: FaultContext) -> bool:
    return context.method == "tools/call" and "task" in context.params


@on_reply("answers a call that asks for a task at once", breaks="TSK-09", scenario=RUNNING)
def core_not_a_task(reply: Json, context: FaultContext) -> Json:
    return result_reply(reply, {"content": []}) if _asks(context) and "result" in reply else reply


@on_result("gives all tasks the same id", breaks="TSK-10", method="tools/call", scenario=RUNNING)
def core_same_id(result: Json, context: FaultContext) -> None:
    if "task" in result:
        result["task"]["taskId"] = context.shared.setdefault("id", result["task"]["taskId"])


def _task_fault(name: str, fault: str, breaks: str, method: str, changes: Json) -> Any:
    def edit(result: Json, context: FaultContext) -> None:
        task = result.get("task", result)
        for key, value in changes.items():
            if value is ABSENT:
                task.pop(key, None)
            elif "status" in task:
                task[key] = value

    return on_result(fault, breaks=breaks, id=f"tasks.core-{name}", method=method, scenario=RUNNING)(edit)


TASK_FAULTS: Final = (
    _task_fault(
        "begins-submitted", "begins a task as `submitted`", "TSK-11", "tools/call", {"status": "submitted"}
    ),
    _task_fault("no-times", "shows tasks without times", "TSK-16", "tasks/get", {"createdAt": ABSENT}),
    _task_fault("no-ttl", "shows tasks without `ttl`", "TSK-17", "tasks/get", {"ttl": ABSENT}),
    _task_fault("unknown-status", "shows a status `running`", "TSK-12", "tasks/get", {"status": "running"}),
    _task_fault(
        "no-reason", "does not say why a task failed", "TSK-32", "tasks/get", {"statusMessage": ABSENT}
    ),
    _task_fault(
        "still-working",
        "answers a cancellation with `working`",
        "TSK-29",
        "tasks/cancel",
        {"status": "working"},
    ),
)


@on_reply("ends a task in another way each time", breaks="TSK-13", scenario=RUNNING)
def core_changes_its_mind(reply: Json, context: FaultContext) -> Json:
    task = reply.get("result", {})
    if context.method == "tasks/get" and task.get("status") == "completed":
        reads = context.shared["reads"] = context.shared.get("reads", 0) + 1
        task["status"] = "completed" if reads % 2 else "failed"
    return reply


@on_reply("leaves a task at `input_required`", breaks="TSK-14", scenario=RUNNING)
def core_still_asking(reply: Json, context: FaultContext) -> Json:
    task = reply.get("result", {})
    if context.method == "tasks/get" and task.get("status") in ("working", "completed"):
        task["status"] = "input_required"
    return reply


@on_result("returns another result the second time", breaks="TSK-20", method="tasks/result", scenario=RUNNING)
def core_other_result(result: Json, context: FaultContext) -> None:
    reads = context.shared["reads"] = context.shared.get("reads", 0) + 1
    result["content"] = [{"type": "text", "text": f"reading {reads}"}]


@on_request("answers tasks/result at once", breaks="TSK-21", scenario=RUNNING)
def core_result_at_once(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") != "tasks/result":
        return message
    meta = {RELATED: {"taskId": params_of(message)["taskId"]}}
    return LocalAnswer([result_reply(message, {"content": [], "_meta": meta})])


@on_result("does not name the task of a result", breaks="TSK-22", method="tasks/result", scenario=RUNNING)
def core_unrelated(result: Json, context: FaultContext) -> None:
    result.pop("_meta", None)


@on_reply("acknowledges the cancellation of an ended task", breaks="TSK-28", scenario=RUNNING)
def core_cancelled_twice(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/cancel" and "error" in reply:
        return result_reply(reply, {})
    return reply


LIST_EDITS: Final = edited_results(
    "tasks/list",
    ("tasks.core-none-listed", "lists no task", "TSK-27", "tasks", []),
    scenario=RUNNING,
    # Callers who are not authenticated have no list over HTTP.
    server=WITH_TOKENS,
    transports=HTTP_ONLY,
)


@on_reply("reports an unknown task as error -32002", breaks="TSK-31", scenario=REFUSALS)
def core_unknown_code(reply: Json, context: FaultContext) -> Json:
    is_about = context.method in METHODS and "error" in reply
    return error_reply(reply, -32002, "task not found") if is_about else reply


@on_request("serves calls that ask for a task it does not have", breaks="TSK-05", scenario=REFUSALS)
def core_ignores_the_wish(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tools/call":
        params_of(message).pop("task", None)
    return message


@on_result("says that every tool needs a task", breaks="TSK-07", method="tools/list", scenario=REFUSALS)
def core_required_but_served(result: Json, context: FaultContext) -> None:
    for tool in result["tools"]:
        tool["execution"] = {"taskSupport": "required"}


DECLARATION_EDITS: Final = edited_results(
    "initialize",
    (
        "tasks.core-undeclared",
        "has tools with tasks, but does not declare them",
        "TSK-01",
        "capabilities.tasks",
        ABSENT,
    ),
    scenario="tools.definitions",
)


def _without_tasks(reply: Json, context: FaultContext) -> Json:
    if context.method == "initialize":
        reply.get("result", {}).get("capabilities", {}).pop("tasks", None)
    for tool in reply.get("result", {}).get("tools", []) if context.method == "tools/list" else []:
        tool.pop("execution", None)
    return reply


def _without_wish(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tools/call":
        params_of(message).pop("task", None)
    return message


NO_TASKS_AT_ALL: Final = Double("no-tasks", request=_without_wish, reply=_without_tasks)


@on_request(
    "has no tasks, and refuses calls that ask for one",
    breaks="TSK-08",
    double=NO_TASKS_AT_ALL,
    scenario="tasks.core-absent",
)
def core_refuses_the_wish(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") == "tools/call" and "task" in params_of(message):
        return LocalAnswer([error_reply(message, INVALID_PARAMS, "unknown parameter: task")])
    return message
