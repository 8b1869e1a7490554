"""Tasks of any server with the extension: created, polled, answered, and cancelled."""

from __future__ import annotations

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
    on_result,
    scenario,
)
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.question import ELICIT
from assay.lab.harness.need import A_CALLABLE_TOOL, declares
from assay.lab.harness.sabotage.saboteur import meta_of
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.asking.question import accept
from assay.lab.suite.evidence import answered, no_faults, result_faults
from assay.lab.suite.extension_method import TASKS
from assay.lab.suite.self_description import as_object
from assay.lab.suite.subscription import ACKNOWLEDGED, LISTEN, subscriptions
from assay.lab.suite.task_message import (
    FINAL,
    PAYLOADS,
    UNDER_WAY,
    acknowledgement_faults,
    creation_faults,
    input_keys,
    poll,
    send_about,
    task_faults,
    task_of,
    wants_input,
)
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS
from assay.revisions.revision import Revision, TaskForm

# --- what is asked


UNKNOWN: Final = "no-such-task-of-the-lab"
UNDECLARED: Final[dict[str, Any]] = {CAPABILITIES_KEY: {"elicitation": {}}}
METHODS: Final = ("tasks/get", "tasks/update", "tasks/cancel")
CANDIDATES: Final = 20
"""Tools that are tried until a call becomes a task."""
ROUNDS: Final = 5
MISFIT: Final = {"what no tool takes": [None]}


def is_extension(revision: Revision) -> bool:
    return revision.tasks is TaskForm.EXTENSION


@scenario(
    "Run a tool as a task, answer its questions, and cancel another",
    exercises=("tasks.created", "tasks.states", "tasks.acknowledged", "tasks.notices"),
    needs=(declares("extensions", TASKS), A_CALLABLE_TOOL),
    window=is_extension,
)
async def drive_running(stage: Stage) -> None:
    peer = await stage.open(extensions={TASKS: {}}, elicitation={})
    await peer.request("server/discover")
    tool, task = await first_task(stage, peer)
    if tool is None or task is None:
        return
    await send_about(peer, "tasks/get", task)
    listening = await peer.start(LISTEN, {"notifications": {"taskIds": [task]}})
    await peer.wait_for(ACKNOWLEDGED, during=listening)
    await send_about(peer, "tasks/update", task, inputResponses={"never asked": {"action": "accept"}})
    await _answer_all(peer, task)
    await send_about(peer, "tasks/cancel", task)
    await send_about(peer, "tasks/get", task)
    second = task_of(await call_tool(peer, tool, stage.facts.arguments_for(tool)))
    if second is not None:
        await send_about(peer, "tasks/cancel", second)
        await poll(peer, second)
        await send_about(peer, "tasks/get", second)
    await call_tool(peer, tool, MISFIT, _meta=UNDECLARED)
    failing = task_of(await call_tool(peer, tool, MISFIT))
    if failing is not None:
        await poll(peer, failing)


async def first_task(stage: Stage, peer: Peer) -> tuple[dict[str, Any] | None, str | None]:
    """The quickest tool whose call becomes a task, and that task."""
    facts = stage.facts
    tools = sorted(facts.callable_tools, key=lambda tool: facts.calls_of(tool).seconds)
    for tool in tools[:CANDIDATES]:
        task = task_of(await call_tool(peer, tool, facts.arguments_for(tool)))
        if task is not None:
            return tool, task
    return None, None


async def call_tool(peer: Peer, tool: dict[str, Any], arguments: dict[str, Any], **more: Any) -> Reply:
    return await peer.request("tools/call", {"name": tool["name"], "arguments": arguments, **more})


async def _answer_all(peer: Peer, task: str) -> None:
    """Poll a task to its end, and answer its questions on the way."""
    asked: set[str] = set()

    def has_new_question(fields: dict[str, Any]) -> bool:
        return wants_input(fields) and not asked.issuperset(input_keys(fields))

    for _ in range(ROUNDS):
        reply = await poll(peer, task, has_new_question)
        keys = [key for key in input_keys(reply.result) if key not in asked]
        if not wants_input(reply.result) or not keys:
            return
        asked.update(keys)
        questions = as_object(reply.result.get("inputRequests"))
        responses = {key: _answer(peer, as_object(questions[key])) for key in keys}
        await send_about(peer, "tasks/update", task, inputResponses=responses)


def _answer(peer: Peer, question: dict[str, Any]) -> dict[str, Any]:
    params = as_object(question.get("params"))
    if question.get("method") == ELICIT and params.get("mode", "form") == "form":
        return accept(params.get("requestedSchema"))
    return as_object((peer.answer_to(str(question.get("method")), params) or {}).get("result"))


# --- how it is judged


def declares_tasks(params: dict[str, Any]) -> bool:
    capabilities = as_object(as_object(params.get("_meta")).get(CAPABILITIES_KEY))
    return TASKS in as_object(capabilities.get("extensions"))


class Story(Struct, frozen=True):
    """A task, with all requests about it in order."""

    id: str
    call: Exchange
    later: tuple[Exchange, ...]

    @property
    def gets(self) -> list[Exchange]:
        return [exchange for exchange in self.later if exchange.method == "tasks/get"]

    @property
    def shown(self) -> list[tuple[Exchange, dict[str, Any]]]:
        return [(exchange, exchange.result) for exchange in self.gets if exchange.result is not None]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.call.frames


def stories(trace: Trace) -> Iterator[Story]:
    about = [exchange for method in METHODS for exchange in answered(trace, method)]
    about.sort(key=lambda exchange: exchange.request.frame.n)
    for call in answered(trace, "tools/call"):
        task = (call.result or {}).get("taskId")
        if isinstance(task, str) and declares_tasks(call.params):
            later = tuple(
                each for each in about if each.params.get("taskId") == task and declares_tasks(each.params)
            )
            yield Story(task, call, later)


@check(
    "Calls become tasks that can be polled",
    requirements={
        "XT-05": "A new task has another form",
        "XT-06": "A new task is unknown to tasks/get",
        "XT-07": "A new task comes with questions",
    },
)
def judge_created(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "tools/call"):
        result = exchange.result or {}
        if declares_tasks(exchange.params) and ("taskId" in result or result.get("resultType") == "task"):
            faults = list(creation_faults(result))
            yield no_faults("XT-05", faults, exchange, expected='a flat task with `resultType: "task"`')
            questions = [key for key in ("inputRequests", "requestState") if key in result]
            yield no_faults("XT-07", questions, exchange, expected="no questions in the result")
    for story in stories(trace):
        for first in story.gets[:1]:
            holds = first.result is not None
            yield observe("XT-06", holds, story, first, expected="the task", observed=first)


@check(
    "tasks/get shows what belongs to the status of a task",
    requirements={
        "XT-05": "tasks/get has the type of a new task",
        "XT-08": "A task lacks what belongs to its status, or has more",
        "XT-09": "tasks/get has no `resultType` `complete`",
        "XT-10": "A task whose tool reports an error is not `completed`",
        "XT-14": "The key of an answered question is used again",
    },
)
def judge_states(trace: Trace) -> Iterator[Observation]:
    failing = _calls_with_errors(trace)
    for story in stories(trace):
        for exchange, fields in story.shown:
            kind = fields.get("resultType")
            yield observe("XT-09", kind == "complete", exchange, expected="complete", observed=repr(kind))
            yield observe("XT-05", kind != "task", exchange, expected="complete", observed=repr(kind))
            faults = [*task_faults(fields), *_payload_faults(fields)]
            yield no_faults("XT-08", faults, exchange, expected="what belongs to the status")
            yield from _judge_tool_error(story, exchange, fields, failing)
        yield from _judge_order(story)
        yield from _judge_keys(story)


PAYLOAD_OF: Final = {"completed": "result", "failed": "error", "input_required": "inputRequests"}


def _payload_faults(fields: dict[str, Any]) -> Iterator[str]:
    due = PAYLOAD_OF.get(str(fields.get("status")))
    if due is not None and not isinstance(fields.get(due), dict):
        yield f"no `{due}` in a task that is {fields.get('status')}"
    yield from (
        f"`{key}` in a task that is {fields.get('status')}"
        for key in PAYLOADS
        if key in fields and key != due
    )


def _calls_with_errors(trace: Trace) -> dict[str, Exchange]:
    """Plain calls whose tool reported an error, by name and arguments."""
    return {
        _call_key(exchange): exchange
        for exchange in answered(trace, "tools/call")
        if (exchange.result or {}).get("isError") is True
    }


def _call_key(exchange: Exchange) -> str:
    return repr((exchange.params.get("name"), exchange.params.get("arguments")))


def _judge_tool_error(
    story: Story, exchange: Exchange, fields: dict[str, Any], failing: dict[str, Exchange]
) -> Iterator[Observation]:
    """The same call as a plain one reported an error in its result."""
    plain = failing.get(_call_key(story.call))
    if plain is not None and fields.get("status") in ("completed", "failed"):
        holds = fields["status"] == "completed"
        yield observe("XT-10", holds, plain, exchange, expected="completed, with isError", observed=exchange)


def _judge_order(story: Story) -> Iterator[Observation]:
    """A final state stays as it is."""
    ended: tuple[Exchange, str] | None = None
    for exchange, fields in story.shown:
        status = str(fields.get("status"))
        if ended is not None:
            holds, expected = status == ended[1], f"{ended[1]}, as before"
            yield observe("XT-08", holds, ended[0], exchange, expected=expected, observed=status)
        elif status in FINAL:
            ended = exchange, status


def _judge_keys(story: Story) -> Iterator[Observation]:
    """A question that has been answered does not come back once another was shown or the task worked."""
    answered_keys: set[str] = set()
    gone: set[str] = set()
    for exchange in story.later:
        if exchange.method == "tasks/update" and exchange.result is not None:
            answered_keys |= as_object(exchange.params.get("inputResponses")).keys()
        elif exchange.method == "tasks/get" and exchange.result is not None:
            keys = set(input_keys(exchange.result))
            if keys:
                again = ", ".join(sorted(keys & gone))
                yield observe("XT-14", not again, exchange, expected="new keys", observed=again)
            gone |= answered_keys - keys


@check(
    "tasks/update and tasks/cancel are acknowledged with an empty result",
    requirements={
        "XT-09": "An acknowledgement has no `resultType` `complete`",
        "XT-11": "tasks/update or tasks/cancel is answered with more than an acknowledgement",
        "XT-13": "An answer to a question that is not open was refused",
    },
)
def judge_acknowledged(trace: Trace) -> Iterator[Observation]:
    for story in stories(trace):
        for exchange in story.later:
            if exchange.method == "tasks/get":
                continue
            unknown = "never asked" in as_object(exchange.params.get("inputResponses"))
            if unknown:
                holds = exchange.result is not None
                yield observe("XT-13", holds, exchange, expected="an empty result", observed=exchange)
            if exchange.result is not None:
                kind = exchange.result.get("resultType")
                yield observe("XT-09", kind == "complete", exchange, expected="complete", observed=repr(kind))
            if not unknown or exchange.result is not None:
                faults = result_faults(exchange, acknowledgement_faults)
                yield no_faults("XT-11", faults, exchange, expected='{"resultType": "complete"}')


@check(
    "Listeners get the whole task, and no progress",
    requirements={
        "XT-19": "Progress or log messages were sent for a task",
        "XT-22": "A notification does not have the whole task",
    },
)
def judge_notices(trace: Trace) -> Iterator[Observation]:
    for stream in subscriptions(trace):
        if "taskIds" not in stream.filters:
            continue
        for message in stream.messages:
            holds = message.method not in ("notifications/progress", "notifications/message")
            yield observe("XT-19", holds, stream, message, expected="no such message", observed=message)
            if message.method == "notifications/tasks":
                faults = [*task_faults(message.params), *_payload_faults(message.params)]
                yield no_faults("XT-22", faults, message, expected="the task as in tasks/get")


# --- what the checks must catch


RUNNING: Final = "tasks.running"


@on_reply("nests a new task", breaks="XT-05", scenario=RUNNING)
def nested(reply: Json, context: FaultContext) -> Json:
    if reply.get("result", {}).get("resultType") == "task":
        reply["result"] = {**reply["result"], "task": dict(reply["result"])}
    return reply


@on_reply("does not know a task that it has just announced", breaks="XT-06", scenario=RUNNING)
def announced_early(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply:
        seen: set[str] = context.shared.setdefault("seen", set())
        task = context.params["taskId"]
        if task not in seen:
            seen.add(task)
            return error_reply(reply, INVALID_PARAMS, "unknown task")
    return reply


@on_result(
    "sends the state of questions with a new task", breaks="XT-07", scenario=RUNNING, method="tools/call"
)
def task_with_state(result: Json, context: FaultContext) -> None:
    if result.get("resultType") == "task":
        result["requestState"] = "sealed"


def _get_fault(name: str, fault: str, breaks: str, change: Any) -> Any:
    def edit(result: Json, context: FaultContext) -> None:
        change(result)

    return on_result(fault, breaks=breaks, id=f"tasks.{name}", method="tasks/get", scenario=RUNNING)(edit)


def _without_payload(result: Json) -> None:
    for key in PAYLOADS:
        result.pop(key, None)


def _result_too_early(result: Json) -> None:
    if result["status"] in UNDER_WAY:
        result["result"] = {"content": []}


def _fail_tool_errors(result: Json) -> None:
    if as_object(result.get("result")).get("isError"):
        result.pop("result")
        result |= {"status": "failed", "error": {"code": INTERNAL_ERROR, "message": "it failed"}}


FORM: Final[Json] = {"type": "object", "properties": {"sure": {"type": "boolean"}}}
AGAIN: Final[Json] = {"method": ELICIT, "params": {"message": "Again?", "requestedSchema": FORM}}


def _same_key(result: Json) -> None:
    if result["status"] == "completed":
        result.pop("result")
        result |= {"status": "input_required", "inputRequests": {"never asked": AGAIN}}


GET_FAULTS: Final = (
    _get_fault("bare", "shows a task without its result or questions", "XT-08", _without_payload),
    _get_fault("result-too-early", "shows a result before the end", "XT-08", _result_too_early),
    _get_fault(
        "unknown-status",
        "says that a task is `running`",
        "XT-08",
        lambda result: result.update(status="running"),
    ),
    _get_fault("no-times", "shows a task without its times", "XT-08", lambda result: result.pop("createdAt")),
    _get_fault("fails-tool-errors", "fails a task whose tool reports an error", "XT-10", _fail_tool_errors),
    _get_fault("same-key", "asks again under a key that was answered", "XT-14", _same_key),
)
RESULT_EDITS: Final = edited_results(
    "tasks/get",
    ("tasks.get-without-type", "sends tasks/get without `resultType`", "XT-09", "resultType", ABSENT),
    ("tasks.get-as-task", "sends tasks/get as a new task", "XT-05", "resultType", "task"),
    scenario=RUNNING,
)
ACKNOWLEDGEMENT_EDITS: Final = edited_results(
    ("tasks/update", "tasks/cancel"),
    ("tasks.status-acknowledged", "acknowledges with the status", "XT-11", "status", "working"),
    ("tasks.untyped-acknowledgement", "acknowledges without `resultType`", "XT-09", "resultType", ABSENT),
    scenario=RUNNING,
)


@on_reply("refuses the cancellation of an ended task", breaks="XT-11", scenario=RUNNING)
def cancel_refused(reply: Json, context: FaultContext) -> Json:
    ended = context.shared.setdefault("ended", set())
    if context.method == "tasks/get" and reply.get("result", {}).get("status") in FINAL:
        ended.add(context.params["taskId"])
    if context.method == "tasks/cancel" and context.params.get("taskId") in ended:
        return error_reply(reply, INVALID_PARAMS, "it has ended")
    return reply


@on_reply("works on after a cancellation", breaks="XT-08", scenario=RUNNING)
def returns_to_life(reply: Json, context: FaultContext) -> Json:
    shown = context.shared.setdefault("shown", set())
    result = reply.get("result", {})
    if context.method == "tasks/get" and result.get("status") in FINAL:
        if context.params["taskId"] in shown:
            _without_payload(result)
            result["status"] = "working"
        shown.add(context.params["taskId"])
    return reply


@on_reply("refuses answers to questions that are not open", breaks="XT-13", scenario=RUNNING)
def unknown_key_refused(reply: Json, context: FaultContext) -> Json:
    if "never asked" in as_object(context.params.get("inputResponses")):
        return error_reply(reply, INVALID_PARAMS, "unknown key")
    return reply


@on_reply("sends progress to the listeners of a task", breaks="XT-19", scenario=RUNNING)
def progress_for_a_task(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    params = {"_meta": meta_of(reply), "progressToken": 1, "progress": 1}
    return [reply, {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}]


@on_reply("notifies of a task by its id and status only", breaks="XT-22", scenario=RUNNING)
def short_notice(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/tasks":
        kept = ("_meta", "taskId", "status")
        reply["params"] = {key: value for key, value in reply["params"].items() if key in kept}
    return reply
