"""Tasks of any server with the extension: what is refused, and what is gone since tasks left the core."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness import (
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
    result_reply,
    scenario,
)
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.need import declares
from assay.lab.harness.sabotage.saboteur import meta_of
from assay.lab.harness.trace.listing import declaration
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.evidence import answered
from assay.lab.suite.extension_method import TASKS
from assay.lab.suite.self_description import as_object
from assay.lab.suite.subscription import ACKNOWLEDGED, LISTEN, subscriptions
from assay.lab.suite.task_message import (
    send_about,
)
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY

from .extension import (
    METHODS,
    UNDECLARED,
    UNKNOWN,
    call_tool,
    declares_tasks,
    first_task,
    is_extension,
    stories,
)

# --- what is asked


@scenario(
    "Ask for tasks without declaring the extension, and for unknown tasks",
    exercises=("tasks.undeclared", "tasks.unknown", "tasks.of-the-core"),
    needs=(declares("extensions", TASKS),),
    window=is_extension,
)
async def drive_refusals(stage: Stage) -> None:
    peer = await stage.open(extensions={TASKS: {}}, elicitation={})
    await peer.request("server/discover")
    for method in METHODS:
        await send_about(peer, method, UNKNOWN)
        await send_about(peer, method, UNKNOWN, _meta=UNDECLARED)
    for method in ("tasks/result", "tasks/list"):
        await peer.request(method, {"taskId": UNKNOWN})
    params = {"notifications": {"taskIds": [UNKNOWN]}, "_meta": UNDECLARED}
    listening = await peer.start(LISTEN, params)
    await peer.wait_for(ACKNOWLEDGED, during=listening)
    tool, task = await first_task(stage, peer)
    if tool is not None and task is not None:
        await send_about(peer, "tasks/cancel", task)
        await call_tool(peer, tool, stage.facts.arguments_for(tool), _meta=UNDECLARED)


# --- how it is judged


@check(
    "Clients without the extension get no tasks",
    requirements={
        "XT-01": "A call without the extension became a task",
        "XT-04": "A call that needs the extension was refused with another error",
        "XT-21": "A request about tasks was served without the extension",
    },
)
def judge_undeclared(trace: Trace) -> Iterator[Observation]:
    as_tasks = {story.call.params.get("name") for story in stories(trace)}
    for exchange in answered(trace, "tools/call"):
        if declares_tasks(exchange.params) or exchange.params.get("name") not in as_tasks:
            continue
        is_task = (exchange.result or {}).get("resultType") == "task"
        yield observe("XT-01", not is_task, exchange, expected="a result", observed=exchange)
        if exchange.answer is not None and exchange.answer.error:
            yield _judge_refusal("XT-04", exchange)
    for exchange in (each for method in (*METHODS, LISTEN) for each in answered(trace, method)):
        if not declares_tasks(exchange.params) and exchange.method in METHODS:
            yield _judge_refusal("XT-21", exchange)
    for stream in subscriptions(trace):
        if "taskIds" in stream.filters and not declares_tasks(stream.exchange.params):
            acknowledged = stream.acknowledgement is not None
            if acknowledged or stream.exchange.answer is not None:
                yield _judge_refusal("XT-21", stream.exchange)


def _judge_refusal(requirement: str, exchange: Exchange) -> Observation:
    error = as_object(exchange.answer.error) if exchange.answer is not None else {}
    required = as_object(as_object(error.get("data")).get("requiredCapabilities"))
    holds = exchange.code == MISSING_CAPABILITY and TASKS in as_object(required.get("extensions"))
    expected = f"error {MISSING_CAPABILITY} with {TASKS} in data.requiredCapabilities.extensions"
    return observe(requirement, holds, exchange, expected=expected, observed=exchange)


@check(
    "Unknown tasks are refused",
    requirements={
        "XT-12": "tasks/update or tasks/cancel of an unknown task was acknowledged",
        "XT-20": "tasks/get of an unknown task was not refused with -32602",
    },
)
def judge_unknown(trace: Trace) -> Iterator[Observation]:
    for exchange in (each for method in METHODS for each in answered(trace, method, taskId=UNKNOWN)):
        if not declares_tasks(exchange.params):
            continue
        if exchange.method == "tasks/get":
            holds = exchange.code == INVALID_PARAMS
            yield observe("XT-20", holds, exchange, expected=f"error {INVALID_PARAMS}", observed=exchange)
        else:
            yield observe("XT-12", exchange.result is None, exchange, expected="an error", observed=exchange)


@check(
    "Tasks of the core are gone",
    requirements={"XT-24": "Something of tasks as part of the core is still there"},
)
def judge_of_the_core(trace: Trace) -> Iterator[Observation]:
    for method in ("tasks/result", "tasks/list"):
        for exchange in answered(trace, method):
            holds, expected = exchange.code == METHOD_NOT_FOUND, f"error {METHOD_NOT_FOUND}"
            yield observe("XT-24", holds, exchange, expected=expected, observed=exchange)
    declared = declaration(trace)
    if declared is not None:
        holds = "tasks" not in declared.capabilities
        yield observe("XT-24", holds, declared, expected="no `tasks`", observed="`capabilities.tasks`")


# --- what the checks must catch


REFUSALS: Final = "tasks.refusals"


def _declare(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if message.get("method") == "tools/call" and CAPABILITIES_KEY in meta:
        meta[CAPABILITIES_KEY]["extensions"] = {TASKS: {}}
    return message


undeclared_task = on_request(
    "answers every call with a task", id="tasks.undeclared-task", breaks="XT-01", scenario=REFUSALS
)(_declare)


@on_reply("refuses a call without the extension as invalid", breaks="XT-04", scenario=REFUSALS)
def refused_as_invalid(reply: Json, context: FaultContext) -> Json:
    extensions = as_object(as_object(context.meta.get(CAPABILITIES_KEY)).get("extensions"))
    if context.method == "tools/call" and TASKS not in extensions:
        return error_reply(reply, INVALID_PARAMS, "call it as a task")
    return reply


@on_reply("reports an undeclared extension without its name", breaks="XT-21", scenario=REFUSALS)
def refused_without_name(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == MISSING_CAPABILITY:
        reply["error"].pop("data", None)
    return reply


@on_reply("reports an undeclared extension as an unknown method", breaks="XT-21", scenario=REFUSALS)
def refused_as_unknown(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == MISSING_CAPABILITY and context.method in METHODS:
        return error_reply(reply, METHOD_NOT_FOUND, "Method not found")
    return reply


@on_reply("acknowledges requests about unknown tasks", breaks="XT-12", scenario=REFUSALS)
def unknown_acknowledged(reply: Json, context: FaultContext) -> Json:
    if context.method in METHODS[1:] and reply.get("error", {}).get("code") == INVALID_PARAMS:
        return result_reply(reply, {"resultType": "complete"})
    return reply


@on_reply("reports an unknown task as error -32002", breaks="XT-20", scenario=REFUSALS)
def unknown_task_code(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and reply.get("error", {}).get("code") == INVALID_PARAMS:
        return error_reply(reply, -32002, "task not found")
    return reply


@on_reply("still serves `tasks/list`", breaks="XT-24", scenario=REFUSALS)
def still_listed(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/list":
        return result_reply(reply, {"resultType": "complete", "tasks": []})
    return reply


DECLARATION_EDITS: Final = edited_results(
    "server/discover",
    ("tasks.core-declared", "still declares `tasks`", "XT-24", "capabilities.tasks", {"list": {}}),
    scenario=REFUSALS,
)
