"""The first request of a client that knows tasks."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.everything.evidence import answered, judged
from assay.lab.everything.fixture import TASKS, declares_tasks
from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, observe
from assay.lab.harness.driver.mirrored_header import as_header
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Exchange


def judge_opening(row: str, trace: Trace) -> Iterator[Observation]:
    """A server that has the extension lets its clients in."""
    first = next((one for one in answered(trace, "server/discover") if declares_tasks(one.params)), None)
    if first is not None:
        holds = first.result is not None
        yield observe(row, holds, first, expected="a result of server/discover", observed=first)


def refused_opening(reply: Json, context: FaultContext) -> Json:
    """Refuse who declares the extension, where the driver asks what the server is."""
    if context.method == "server/discover" and declares_tasks(context.params):
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32603, "message": "what is that?"}}
    return reply


ENDS: Final = ("completed", "failed", "cancelled")
UNDER_WAY: Final = ("working", "input_required")
STATUSES: Final = (*UNDER_WAY, *ENDS)
PAYLOADS: Final = ("result", "error", "inputRequests")
"""What comes with a status, and never with a task that was only just made."""
TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}")
Task = dict[str, Any]


def creation_faults(result: Task) -> Iterator[str]:
    """Of the answer that a call is given when it becomes a task."""
    if result.get("resultType") != "task":
        yield f"resultType {result.get('resultType')!r}"
    elif "task" in result:
        yield "the task is nested under `task`"
    else:
        yield from task_faults(result)
        yield from (f"`{key}`, which belongs to tasks/get" for key in PAYLOADS if key in result)


def task_faults(task: Task) -> Iterator[str]:
    """Of what every task tells of itself."""
    if not (isinstance(task.get("taskId"), str) and task["taskId"]):
        yield f"taskId {task.get('taskId')!r}"
    if task.get("status") not in STATUSES:
        yield f"status {task.get('status')!r}"
    for key in ("createdAt", "lastUpdatedAt"):
        if not (isinstance(task.get(key), str) and TIME.match(task[key])):
            yield f"{key} {task.get(key)!r}, which is no ISO 8601 time"


def duration_faults(task: Task) -> Iterator[str]:
    """Of the names and kinds of durations: whole milliseconds, said so in the name."""
    if "ttlMs" not in task:
        yield "no ttlMs"
    elif not (task["ttlMs"] is None or _is_duration(task["ttlMs"])):
        yield f"ttlMs {task['ttlMs']!r}"
    if "pollIntervalMs" in task and not _is_duration(task["pollIntervalMs"]):
        yield f"pollIntervalMs {task['pollIntervalMs']!r}"
    yield from (f"`{key}`, the name of an earlier revision" for key in ("ttl", "pollInterval") if key in task)


def _is_duration(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def acknowledgement_faults(result: Task) -> Iterator[str]:
    """Of the answer to tasks/update and tasks/cancel, which says nothing but that it was heard."""
    if result.get("resultType") != "complete":
        yield f"resultType {result.get('resultType')!r}"
    yield from (f"`{key}` in an acknowledgement" for key in ("taskId", "status", *PAYLOADS) if key in result)


def sync_faults(result: Task) -> Iterator[str]:
    """Of a call that was answered at once."""
    if result.get("resultType") != "complete":
        yield f"resultType {result.get('resultType')!r}"
    yield from (f"`{key}` in the result of a tool" for key in ("taskId", "task") if key in result)
    yield from content_faults(result)


def completion_faults(task: Task) -> Iterator[str]:
    """Of a task that ended well: the result of the call is in it."""
    if task.get("status") != "completed":
        yield f"status {task.get('status')!r}"
    if not isinstance(task.get("result"), dict):
        yield "no `result` object"
    else:
        yield from content_faults(task["result"])
    yield from (f"`{key}` in a completed task" for key in ("error", "inputRequests") if key in task)


def failure_faults(task: Task) -> Iterator[str]:
    """Of a task that ended with a JSON-RPC error: the error is in it, and no result."""
    if task.get("status") != "failed":
        yield f"status {task.get('status')!r}"
    error = task.get("error")
    if not isinstance(error, dict):
        yield "no `error` object"
    elif not (_is_code(error.get("code")) and isinstance(error.get("message"), str)):
        yield f"an error with code {error.get('code')!r} and message {error.get('message')!r}"
    yield from (f"`{key}` in a failed task" for key in ("result", "inputRequests") if key in task)


def _is_code(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def content_faults(result: Task) -> Iterator[str]:
    content = result.get("content")
    if not (isinstance(content, list) and content):
        yield f"content {content!r}"


UNSETTLED: Final = "task not settled"
"""The mark of a task that the driver waited for in vain."""


class Story(Struct, frozen=True):
    call: Exchange
    gets: tuple[Exchange, ...]
    updates: tuple[Exchange, ...]
    cancels: tuple[Exchange, ...]
    unsettled: bool
    """Whether the driver lost patience with it."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (*self.call.frames, *(frame for one in self.gets[-1:] for frame in one.frames))

    @property
    def task(self) -> dict[str, Any]:
        """The task as it was seen last."""
        return (self.gets[-1].result if self.gets else None) or {}

    @property
    def is_told(self) -> bool:
        """Whether the last look decides something: the task is under way no more, or was waited for long."""
        return bool(self.gets) and (self.unsettled or self.task.get("status") not in UNDER_WAY)


def calls(trace: Trace, tool: str, *, declared: bool = True, **arguments: Any) -> Iterator[Exchange]:
    """Calls of a tool with these arguments that were answered, of a client that knows tasks or knows none."""
    for exchange in answered(trace, "tools/call", name=tool):
        given = exchange.params.get("arguments")
        fits = isinstance(given, dict) and all(given.get(key) == value for key, value in arguments.items())
        if fits and declares_tasks(exchange.params) is declared:
            yield exchange


def stories(trace: Trace, tool: str, **arguments: Any) -> Iterator[Story]:
    """The tasks that calls of a tool became."""
    for exchange in calls(trace, tool, **arguments):
        name = (exchange.result or {}).get("taskId")
        if isinstance(name, str):
            yield Story(
                exchange,
                gets=tuple(about(trace, "tasks/get", name)),
                updates=tuple(about(trace, "tasks/update", name)),
                cancels=tuple(about(trace, "tasks/cancel", name)),
                unsettled=any(mark.info.get("task") == name for mark in trace.marks(UNSETTLED)),
            )


def about(trace: Trace, method: str, task: str) -> Iterator[Exchange]:
    """What a client that knows tasks asked about one, and was answered."""
    return (one for one in answered(trace, method, taskId=task) if declares_tasks(one.params))


def judged_end(
    row: str, story: Story, faults_of: Callable[[dict[str, Any]], Iterable[str]], expected: str
) -> Iterator[Observation]:
    """How a task ended, if the driver saw that or gave up on it."""
    if story.is_told:
        yield judged(row, _end_faults(story, faults_of), story, expected=expected)


def _end_faults(story: Story, faults_of: Callable[[dict[str, Any]], Iterable[str]]) -> Iterator[str]:
    if story.gets[-1].result is None:
        yield str(story.gets[-1])
    elif story.task.get("status") not in ENDS:
        yield f"status {story.task.get('status')!r} in the end"
    else:
        yield from faults_of(story.task)


QUICKEST, SLOWEST, USUAL = 0.01, 1.0, 0.1
"""Seconds between two looks at a task: bounds of what the server suggests, and where it suggests nothing."""
GROWTH: Final = 1.3
"""How much longer each pause is than the one before: what takes long is looked at less often."""
DECLARED: Final[dict[str, Any]] = {"extensions": {TASKS: {}}}
"""The capabilities of a client that knows tasks."""
Wanted = Callable[[dict[str, Any]], bool]
"""Whether a task is as it was waited for."""


async def begin(stage: Stage, **capabilities: Any) -> Peer:
    """A conversation with a client that knows tasks; the first request shows that the server lets it in."""
    peer = await stage.open(**DECLARED, **capabilities)
    await peer.request("server/discover")
    return peer


async def call_tool(peer: Peer, tool: str, *, meta: dict[str, Any] | None = None, **arguments: Any) -> Reply:
    """Call a fixture; `meta` in place of what the client usually declares."""
    return await peer.request(
        "tools/call", {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
    )


async def ask(peer: Peer, method: str, task: str, name: str | None = None, **params: Any) -> Reply:
    """A request about a task. On HTTP its id is in a header too; `name` puts another one there."""
    headers = {"Mcp-Name": as_header(task if name is None else name)}
    return await peer.request(method, {"taskId": task, **params}, headers=headers)


def task_of(reply: Reply) -> str | None:
    """The id of the task that a call became; none where it became none."""
    name = reply.result.get("taskId")
    return name if isinstance(name, str) and reply.result.get("resultType") == "task" else None


def wants_input(task: dict[str, Any]) -> bool:
    return task.get("status") == "input_required"


def wanted_keys(task: dict[str, Any]) -> list[str]:
    asked = task.get("inputRequests")
    return list(asked) if isinstance(asked, dict) else []


async def follow(peer: Peer, task: str, wanted: Wanted = lambda task: False) -> Reply:
    """Look at a task until it has ended or is as wanted; if that takes too long, a mark says so."""
    clock = asyncio.get_running_loop().time
    until = clock() + peer.patience
    pause = 0.0
    while True:
        reply = await ask(peer, "tasks/get", task)
        status = reply.result.get("status")
        if status in ENDS or status not in STATUSES or wanted(reply.result):
            return reply
        if clock() >= until:
            peer.mark(UNSETTLED, task=task, waited=peer.patience)
            return reply
        pause = _next_pause(pause, reply.result)
        await asyncio.sleep(pause)


def _next_pause(before: float, task: dict[str, Any]) -> float:
    """The server's wish within bounds: nobody waits a minute here."""
    wish = task.get("pollIntervalMs")
    seconds = wish / 1000 if isinstance(wish, int | float) and not isinstance(wish, bool) else USUAL
    return min(max(seconds, QUICKEST, before * GROWTH), SLOWEST)
