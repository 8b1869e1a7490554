"""Tasks: capability negotiation, headers, and calls that require a task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fixture import HAS_TASKS, UNDECLARED, declares_tasks, fixture_tool
from assay.lab.harness import FaultContext, Json, Observation, Request, Stage, Trace, error_reply, observe
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, as_header
from assay.lab.harness.sabotage.saboteur import BOTH, OnReply, OnRequest, meta_of
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.evidence import answered, no_faults, result_faults
from assay.lab.suite.extension_method import TASKS
from assay.lab.suite.task_message import creation_faults, send_about, sync_faults, task_of
from assay.model.error import HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, MISSING_CAPABILITY

from .task import (
    DECLARED,
    call_tool,
    calls,
    edited_results,
    histories,
    judge_discovery,
    on_call,
    on_reply,
    on_request,
    open_with_tasks,
)

# --- what is asked


@official_scenario(
    "tasks-capability-negotiation",
    "Use tasks with and without declaring the extension",
    needs=(HAS_TASKS, fixture_tool("slow_compute")),
)
async def drive_tasks_capability_negotiation(stage: Stage) -> None:
    declared = {CAPABILITIES_KEY: DECLARED}
    peer = await stage.open()
    await peer.request("server/discover")
    await peer.request("server/discover", {"_meta": declared})
    task = task_of(await call_tool(peer, "slow_compute", seconds=60, label="declared", meta=declared))
    await call_tool(peer, "slow_compute", seconds=0, label="undeclared")
    if task is None:
        return
    # The task exists, so only the missing declaration is a reason to refuse.
    await send_about(peer, "tasks/get", task, _meta=declared)
    await send_about(peer, "tasks/get", task, _meta=UNDECLARED)
    await send_about(peer, "tasks/update", task, _meta=UNDECLARED, inputResponses={})
    await send_about(peer, "tasks/cancel", task, _meta=UNDECLARED)
    await send_about(peer, "tasks/cancel", task, _meta=declared)


@official_scenario(
    "tasks-request-headers",
    "Send requests about tasks with right and wrong routing headers",
    needs=(HAS_TASKS, fixture_tool("greet"), fixture_tool("slow_compute")),
    transports=HTTP_ONLY,
)
async def drive_tasks_request_headers(stage: Stage) -> None:
    peer = await open_with_tasks(stage)
    await call_tool(peer, "greet", name="World")
    params = {"name": "greet", "arguments": {"name": "World"}}
    await peer.request("tools/call", params, headers={"Mcp-Method": "tasks/get"})
    task = task_of(await call_tool(peer, "slow_compute", seconds=60, label="headers"))
    if task is not None:
        await send_about(peer, "tasks/get", task)
        await send_about(peer, "tasks/get", task, name="another-task")
        await send_about(peer, "tasks/cancel", task)


@official_scenario(
    "tasks-required-task-error",
    "Call a tool that requires a task without declaring the extension",
    needs=(HAS_TASKS, fixture_tool("failing_job")),
)
async def drive_tasks_required_task_error(stage: Stage) -> None:
    peer = await open_with_tasks(stage)
    task = task_of(await call_tool(peer, "failing_job"))
    await call_tool(peer, "failing_job", meta=UNDECLARED)
    if task is not None:
        await send_about(peer, "tasks/cancel", task)


# --- how it is judged


NEGOTIATION = "tasks-capability-bootstrap"
ADVERTISED = "tasks-extension-advertised"
METHODS = "sep-2663-tasks-methods-non-declaring"
SYNC = "sep-2663-server-rejects-undeclared-client"
OPTED_IN = "tasks-per-request-meta-opt-in"


@official_check(
    "tasks-capability-negotiation",
    "Tasks are available only to requests that declare the extension",
    requirements=(NEGOTIATION, ADVERTISED, METHODS, SYNC, OPTED_IN),
)
def judge_tasks_capability_negotiation(trace: Trace) -> Iterator[Observation]:
    yield from judge_discovery(NEGOTIATION, trace)
    for exchange in answered(trace, "server/discover"):
        if exchange.result is not None:
            expected = f"`{TASKS}` among the extensions, and no `capabilities.tasks`"
            yield no_faults(ADVERTISED, _advertising_faults(exchange.result), exchange, expected=expected)
    for exchange in calls(trace, "slow_compute", declared=False):
        yield no_faults(
            SYNC,
            result_faults(exchange, sync_faults),
            exchange,
            expected="the result at once, without a task",
        )
    for exchange in calls(trace, "slow_compute"):
        faults = result_faults(exchange, creation_faults)
        yield no_faults(
            OPTED_IN, faults, exchange, expected="a task, since the request declares the extension"
        )
    yield from _judge_methods(trace)


def _advertising_faults(result: dict[str, Any]) -> Iterator[str]:
    capabilities = result.get("capabilities")
    if not isinstance(capabilities, dict):
        yield f"capabilities {capabilities!r}"
        return
    extensions = capabilities.get("extensions")
    if not (isinstance(extensions, dict) and isinstance(extensions.get(TASKS), dict)):
        yield f"the extensions {extensions!r}"
    if "tasks" in capabilities:
        yield "`capabilities.tasks`, the place of an earlier revision"


def _judge_methods(trace: Trace) -> Iterator[Observation]:
    """Only for a task that a client with the declaration could read: then only the declaration differs."""
    for history in histories(trace, "slow_compute"):
        if not history.gets or history.gets[0].result is None:
            continue
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            for exchange in answered(trace, method, taskId=history.gets[0].params["taskId"]):
                if not declares_tasks(exchange.params):
                    holds = exchange.code == MISSING_CAPABILITY
                    expected = f"error {MISSING_CAPABILITY}: the client does not declare the extension"
                    yield observe(METHODS, holds, exchange, expected=expected, observed=exchange)


HEADERS = "tasks-headers-bootstrap"
METHOD_ACCEPTED = "tasks-headers-tolerate-mcp-method-on-tools-call"
METHOD_REFUSED = "tasks-headers-reject-mismatched-method"
NAME_ACCEPTED = "sep-2663-routing-headers-accepted-on-tasks-get"
NAME_REFUSED = "sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get"


# Method → requirements for matching and for wrong headers.
ROWS = {"tools/call": (METHOD_ACCEPTED, METHOD_REFUSED), "tasks/get": (NAME_ACCEPTED, NAME_REFUSED)}


@official_check(
    "tasks-request-headers",
    "The routing headers of requests about tasks match their bodies",
    requirements=(HEADERS, METHOD_ACCEPTED, METHOD_REFUSED, NAME_ACCEPTED, NAME_REFUSED),
    transports=HTTP_ONLY,
)
def judge_tasks_request_headers(trace: Trace) -> Iterator[Observation]:
    yield from judge_discovery(HEADERS, trace)
    for method, (accepted, refused) in ROWS.items():
        calls = [call for call in trace.calls if _is_of(call, method) and call.status]
        served = [call for call in calls if _matches(call) and _is_result(call)]
        for call in calls:
            if _matches(call):
                expected = "a result: the headers match the body"
                yield observe(accepted, _is_result(call), call, expected=expected, observed=_outcome(call))
            elif served:
                holds = call.code == HEADER_MISMATCH
                expected = f"error {HEADER_MISMATCH}: a header does not match the body"
                yield observe(refused, holds, served[0], call, expected=expected, observed=_outcome(call))


def _is_of(call: Call, method: str) -> bool:
    return [message.method for message in call.request_messages] == [method]


def _matches(call: Call) -> bool:
    (request,) = call.request_messages
    name = request.params.get("taskId", request.params.get("name"))
    headers = (call.sent.get("mcp-method"), call.sent.get("mcp-name"))
    return headers == (request.method, as_header(str(name)))


def _is_result(call: Call) -> bool:
    return any("result" in message.fields for message in call.messages)


def _outcome(call: Call) -> str:
    return f"{call.messages[-1] if call.messages else 'no message'}, HTTP {call.status}"


REQUIRED = "tasks-required-error-bootstrap"
REFUSED = "sep-2663-server-returns-missing-capability-when-required"
NAMED = "sep-2663-server-returns-missing-capability-data-shape"


@official_check(
    "tasks-required-task-error",
    "A call that requires a task is refused with the missing capability",
    requirements=(REQUIRED, REFUSED, NAMED),
)
def judge_tasks_required_task_error(trace: Trace) -> Iterator[Observation]:
    yield from judge_discovery(REQUIRED, trace)
    tasks = []
    for exchange in calls(trace, "failing_job"):
        if (exchange.result or {}).get("resultType") == "task":
            tasks.append(exchange)
        else:
            expected = "a task, since the client declares the extension"
            yield observe(REFUSED, False, exchange, expected=expected, observed=exchange)
    for exchange in calls(trace, "failing_job", declared=False) if tasks else ():
        refused = exchange.code == MISSING_CAPABILITY
        expected = f"error {MISSING_CAPABILITY}: the client does not declare the extension"
        yield observe(REFUSED, refused, tasks[0], exchange, expected=expected, observed=exchange)
        data = exchange.answer.error.get("data") if exchange.answer is not None else None
        if refused and data is not None:
            expected = f"`data.requiredCapabilities.extensions` with {TASKS}"
            yield observe(NAMED, _names_tasks(data), exchange, expected=expected, observed=f"data {data!r}")


def _names_tasks(data: Any) -> bool:
    for key in ("requiredCapabilities", "extensions"):
        data = data.get(key) if isinstance(data, dict) else None
    return isinstance(data, dict) and TASKS in data


# --- what the checks must catch


def _refuse_discovery(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover" and declares_tasks(context.params):
        return error_reply(reply, INTERNAL_ERROR, "unknown extension")
    return reply


REFUSALS: Final = tuple(
    on_reply(
        "refuses a request that declares the extension",
        id=f"tasks.shut-to-{name}",
        breaks=f"tasks-{requirement}-bootstrap",
        transports=HTTP_ONLY if name == "headers" else BOTH,
    )(_refuse_discovery)
    for name, requirement in (
        ("negotiation", "capability"),
        ("headers", "headers"),
        ("requirement", "required-error"),
        ("dispatch", "dispatch"),
        ("fields", "wire-fields"),
        ("input", "mrtr-input"),
        ("lifecycle", "lifecycle"),
        ("state", "request-state"),
    )
)


def _declare(method: str, capabilities: Json) -> OnRequest:
    """Change what the client declares with requests of a method."""

    def change(message: Json, context: FaultContext) -> Json:
        if message.get("method") == method:
            meta_of(message)[CAPABILITIES_KEY] = capabilities
        return message

    return change


DECLARATIONS: Final = tuple(
    on_request(fault, id=f"tasks.{name}", breaks=breaks, scenario=scenario)(_declare(method, capabilities))
    for name, fault, breaks, scenario, method, capabilities in (
        ("stranger-given-task", "makes a task without the declaration", SYNC, None, "tools/call", DECLARED),
        ("strangers-see-tasks", "shows tasks without the declaration", METHODS, None, "tasks/get", DECLARED),
        (
            "declaration-overheard",
            "makes no task of a call with the declaration",
            OPTED_IN,
            "tasks-capability-negotiation",
            "tools/call",
            {},
        ),
        ("task-never-made", "makes no task", "tasks-request-state-removal-setup", None, "tools/call", {}),
        (
            "stranger-listens",
            "lets clients listen for a task without the declaration",
            "tasks-status-notifications",
            None,
            "subscriptions/listen",
            DECLARED,
        ),
    )
)


def _refuse(method: str, name: object = None) -> OnReply:
    """Refuse requests with matching headers."""

    def change(reply: Json, context: FaultContext) -> Json:
        matches = context.method == method and context.params.get("name") == name
        return error_reply(reply, HEADER_MISMATCH, "a header is wrong") if matches else reply

    return change


HEADER_REFUSALS: Final = tuple(
    on_reply(fault, id=f"tasks.{name}", breaks=breaks, transports=HTTP_ONLY)(change)
    for name, fault, breaks, change in (
        (
            "honest-name-refused",
            "refuses tasks/get with matching headers",
            NAME_ACCEPTED,
            _refuse("tasks/get"),
        ),
        ("honest-method-refused", "refuses a matching call", METHOD_ACCEPTED, _refuse("tools/call", "greet")),
    )
)


@on_call("ignores a wrong Mcp-Name", breaks=NAME_REFUSED)
def name_header_unread(request: Request, context: FaultContext) -> None:
    if "taskId" in context.params:
        request.set("Mcp-Name", context.params["taskId"])


@on_call("ignores a wrong Mcp-Method", breaks=METHOD_REFUSED)
def method_header_unread(request: Request, context: FaultContext) -> None:
    if context.method:
        request.set("Mcp-Method", context.method)


@on_reply("refuses without naming the extension", breaks=NAMED)
def lack_unnamed(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "error" in reply:
        reply["error"]["data"] = {"requiredCapabilities": {}}
    return reply


@on_reply("refuses a tool that requires a task with -32602", breaks=REFUSED)
def lack_taken_for_bad_input(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "error" in reply:
        reply["error"]["code"] = INVALID_PARAMS
    return reply


RESULT_EDITS: Final = edited_results(
    "server/discover",
    ("tasks.old-capability", "declares `capabilities.tasks`", ADVERTISED, "capabilities.tasks", {}),
)
