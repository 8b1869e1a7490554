"""Tasks: capability negotiation, headers, and calls that require a task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.everything.evidence import answered, judged, result_faults
from assay.lab.everything.fixture import HAS_TASKS, TASKS, UNDECLARED, declares_tasks, fixture_tool
from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Request,
    Stage,
    Trace,
    edited_results,
    observe,
    on_call,
    on_reply,
    on_request,
)
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.driver.mirrored_header import as_header
from assay.lab.harness.sabotage.saboteur import meta_of
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.model.error import HEADER_MISMATCH, MISSING_CAPABILITY

from .task import (
    DECLARED,
    ask,
    begin,
    call_tool,
    calls,
    creation_faults,
    judge_opening,
    refused_opening,
    stories,
    sync_faults,
    task_of,
)

# --- what is asked


@official_scenario(
    "tasks-capability-negotiation",
    "Tasks are for requests that declare the extension",
    needs=(HAS_TASKS, fixture_tool("slow_compute")),
)
async def drive_tasks_capability_negotiation(stage: Stage) -> None:
    knowing = {CAPABILITIES_KEY: DECLARED}
    peer = await stage.open()
    await peer.request("server/discover")
    await peer.request("server/discover", {"_meta": knowing})
    task = task_of(await call_tool(peer, "slow_compute", seconds=60, label="declared", meta=knowing))
    await call_tool(peer, "slow_compute", seconds=0, label="undeclared")
    if task is None:
        return
    # The task is there: so that it does not exist is no reason to refuse.
    await ask(peer, "tasks/get", task, _meta=knowing)
    await ask(peer, "tasks/get", task, _meta=UNDECLARED)
    await ask(peer, "tasks/update", task, _meta=UNDECLARED, inputResponses={})
    await ask(peer, "tasks/cancel", task, _meta=UNDECLARED)
    await ask(peer, "tasks/cancel", task, _meta=knowing)


@official_scenario(
    "tasks-request-headers",
    "The routing headers of requests about tasks",
    needs=(HAS_TASKS, fixture_tool("greet"), fixture_tool("slow_compute")),
    transports=HTTP_ONLY,
)
async def drive_tasks_request_headers(stage: Stage) -> None:
    peer = await begin(stage)
    await call_tool(peer, "greet", name="World")
    params = {"name": "greet", "arguments": {"name": "World"}}
    await peer.request("tools/call", params, headers={"Mcp-Method": "tasks/get"})
    task = task_of(await call_tool(peer, "slow_compute", seconds=60, label="headers"))
    if task is not None:
        await ask(peer, "tasks/get", task)
        await ask(peer, "tasks/get", task, name="another-task")
        await ask(peer, "tasks/cancel", task)


@official_scenario(
    "tasks-required-task-error",
    "A tool that must be a task is refused to clients that know none",
    needs=(HAS_TASKS, fixture_tool("failing_job")),
)
async def drive_tasks_required_task_error(stage: Stage) -> None:
    peer = await begin(stage)
    task = task_of(await call_tool(peer, "failing_job"))
    await call_tool(peer, "failing_job", meta=UNDECLARED)
    if task is not None:
        await ask(peer, "tasks/cancel", task)


# --- how it is judged


OPENING = "tasks-capability-bootstrap"
ADVERTISED = "tasks-extension-advertised"
METHODS = "sep-2663-tasks-methods-non-declaring"
SYNC = "sep-2663-server-rejects-undeclared-client"
OPTED_IN = "tasks-per-request-meta-opt-in"


@official_check(
    "tasks-capability-negotiation",
    "Tasks are for requests that declare the extension",
    requirements=(OPENING, ADVERTISED, METHODS, SYNC, OPTED_IN),
)
def judge_tasks_capability_negotiation(trace: Trace) -> Iterator[Observation]:
    yield from judge_opening(OPENING, trace)
    for exchange in answered(trace, "server/discover"):
        if exchange.result is not None:
            expected = f"`{TASKS}` among the extensions, and no `capabilities.tasks`"
            yield judged(ADVERTISED, _advertising_faults(exchange.result), exchange, expected=expected)
    for exchange in calls(trace, "slow_compute", declared=False):
        yield judged(
            SYNC, result_faults(exchange, sync_faults), exchange, expected="the result at once, and no task"
        )
    for exchange in calls(trace, "slow_compute"):
        faults = result_faults(exchange, creation_faults)
        yield judged(OPTED_IN, faults, exchange, expected="a task, since the request declares the extension")
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
    """Only where a client that declares the extension was shown the task: then nothing else can be wrong."""
    for story in stories(trace, "slow_compute"):
        if not story.gets or story.gets[0].result is None:
            continue
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            for exchange in answered(trace, method, taskId=story.gets[0].params["taskId"]):
                if not declares_tasks(exchange.params):
                    holds = exchange.code == MISSING_CAPABILITY
                    expected = f"error {MISSING_CAPABILITY}: the client does not declare the extension"
                    yield observe(METHODS, holds, exchange, expected=expected, observed=exchange)


TASKS_REQUEST_HEADERS_OPENING = "tasks-headers-bootstrap"
METHOD_TAKEN = "tasks-headers-tolerate-mcp-method-on-tools-call"
METHOD_REFUSED = "tasks-headers-reject-mismatched-method"
NAME_TAKEN = "sep-2663-routing-headers-accepted-on-tasks-get"
NAME_REFUSED = "sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get"


# Method → where it is seen to be let in, and where to be refused.
ROWS = {"tools/call": (METHOD_TAKEN, METHOD_REFUSED), "tasks/get": (NAME_TAKEN, NAME_REFUSED)}


@official_check(
    "tasks-request-headers",
    "The routing headers of requests about tasks",
    requirements=(TASKS_REQUEST_HEADERS_OPENING, METHOD_TAKEN, METHOD_REFUSED, NAME_TAKEN, NAME_REFUSED),
    transports=HTTP_ONLY,
)
def judge_tasks_request_headers(trace: Trace) -> Iterator[Observation]:
    yield from judge_opening(TASKS_REQUEST_HEADERS_OPENING, trace)
    for method, (taken, refused) in ROWS.items():
        calls = [call for call in trace.calls if _asks(call, method) and call.status]
        let_in = [call for call in calls if _agrees(call) and _is_result(call)]
        for call in calls:
            if _agrees(call):
                expected = "a result: the headers say what the body says"
                yield observe(taken, _is_result(call), call, expected=expected, observed=_told(call))
            elif let_in:
                expected = f"error {HEADER_MISMATCH}: a header does not say what the body says"
                yield observe(
                    refused,
                    call.code == HEADER_MISMATCH,
                    let_in[0],
                    call,
                    expected=expected,
                    observed=_told(call),
                )


def _asks(call: Call, method: str) -> bool:
    return [one.method for one in call.asked] == [method]


def _agrees(call: Call) -> bool:
    (asked,) = call.asked
    name = asked.params.get("taskId", asked.params.get("name"))
    said = (call.sent.get("mcp-method"), call.sent.get("mcp-name"))
    return said == (asked.method, as_header(str(name)))


def _is_result(call: Call) -> bool:
    return any("result" in one.fields for one in call.messages)


def _told(call: Call) -> str:
    return f"{call.messages[-1] if call.messages else 'no message'}, HTTP {call.status}"


TASKS_REQUIRED_TASK_ERROR_OPENING = "tasks-required-error-bootstrap"
REFUSED = "sep-2663-server-returns-missing-capability-when-required"
NAMED = "sep-2663-server-returns-missing-capability-data-shape"


@official_check(
    "tasks-required-task-error",
    "What the client lacks is named",
    requirements=(TASKS_REQUIRED_TASK_ERROR_OPENING, REFUSED, NAMED),
)
def judge_tasks_required_task_error(trace: Trace) -> Iterator[Observation]:
    yield from judge_opening(TASKS_REQUIRED_TASK_ERROR_OPENING, trace)
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


@on_request(
    "a call without the declaration becomes a task",
    breaks="sep-2663-server-rejects-undeclared-client",
    double=DOUBLE,
)
def stranger_given_task(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tools/call":
        meta_of(message)[CAPABILITIES_KEY] = DECLARED
    return message


@on_request("tasks/get needs no declaration", breaks="sep-2663-tasks-methods-non-declaring", double=DOUBLE)
def strangers_see_tasks(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tasks/get":
        meta_of(message)[CAPABILITIES_KEY] = DECLARED
    return message


@on_reply(
    "a request that declares the extension is refused", breaks="tasks-capability-bootstrap", double=DOUBLE
)
def shut_to_negotiation(reply: Json, context: FaultContext) -> Json:
    return refused_opening(reply, context)


@on_request(
    "a call with the declaration becomes no task",
    breaks="tasks-per-request-meta-opt-in",
    scenario="tasks-capability-negotiation",
    double=DOUBLE,
)
def declaration_overheard(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tools/call":
        meta_of(message)[CAPABILITIES_KEY] = {}
    return message


@on_reply(
    "tasks/get with the right headers is refused",
    breaks="sep-2663-routing-headers-accepted-on-tasks-get",
    transports=HTTP_ONLY,
    double=DOUBLE,
)
def honest_name_refused(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get":
        return {
            "jsonrpc": "2.0",
            "id": reply["id"],
            "error": {"code": -32020, "message": "a header is wrong"},
        }
    return reply


@on_call(
    "a wrong Mcp-Name is not noticed",
    breaks="sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get",
    double=DOUBLE,
)
def name_header_unread(request: Request, context: FaultContext) -> None:
    if "taskId" in context.params:
        request.set("Mcp-Name", context.params["taskId"])


@on_reply(
    "a request that declares the extension is refused",
    breaks="tasks-headers-bootstrap",
    transports=HTTP_ONLY,
    double=DOUBLE,
)
def shut_to_headers(reply: Json, context: FaultContext) -> Json:
    return refused_opening(reply, context)


@on_call("a wrong Mcp-Method is not noticed", breaks="tasks-headers-reject-mismatched-method", double=DOUBLE)
def method_header_unread(request: Request, context: FaultContext) -> None:
    if context.method:
        request.set("Mcp-Method", context.method)


@on_reply(
    "a call with the right headers is refused",
    breaks="tasks-headers-tolerate-mcp-method-on-tools-call",
    transports=HTTP_ONLY,
    double=DOUBLE,
)
def honest_method_refused(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "greet":
        return {
            "jsonrpc": "2.0",
            "id": reply["id"],
            "error": {"code": -32020, "message": "a header is wrong"},
        }
    return reply


@on_reply(
    "the refusal does not name the extension",
    breaks="sep-2663-server-returns-missing-capability-data-shape",
    double=DOUBLE,
)
def lack_unnamed(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "error" in reply:
        reply["error"]["data"] = {"requiredCapabilities": {}}
    return reply


@on_reply(
    "a tool that must be a task is refused with -32602",
    breaks="sep-2663-server-returns-missing-capability-when-required",
    double=DOUBLE,
)
def lack_taken_for_bad_input(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "error" in reply:
        reply["error"]["code"] = -32602
    return reply


@on_reply(
    "a request that declares the extension is refused", breaks="tasks-required-error-bootstrap", double=DOUBLE
)
def shut_to_requirement(reply: Json, context: FaultContext) -> Json:
    return refused_opening(reply, context)


RESULT_EDITS: Final = edited_results(
    "server/discover",
    (
        "tasks.old-capability",
        "`capabilities.tasks` is there",
        "tasks-extension-advertised",
        "capabilities.tasks",
        {},
    ),
    double=DOUBLE,
)
