"""Tasks on the wire: fields, histories in a trace, and how a client polls them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from msgspec import Struct

from assay.lab import harness
from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.everything.fixture import declares_tasks
from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, observe
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.evidence import answered, no_faults
from assay.lab.suite.extension_method import TASKS
from assay.lab.suite.task_message import FINAL, UNDER_WAY, UNSETTLED, Task


def judge_discovery(requirement: str, trace: Trace) -> Iterator[Observation]:
    """The first discovery of a client that declares the extension succeeds."""
    exchanges = answered(trace, "server/discover")
    first = next((exchange for exchange in exchanges if declares_tasks(exchange.params)), None)
    if first is not None:
        holds = first.result is not None
        yield observe(requirement, holds, first, expected="a result of server/discover", observed=first)


def has_ended(reply: Json, context: FaultContext) -> bool:
    """For faults: whether an earlier tasks/get showed the end of the task of this request."""
    ended: set[Any] = context.memory.setdefault("ended", set())
    task = context.params.get("taskId")
    before = task in ended
    if context.method == "tasks/get" and reply.get("result", {}).get("status") in FINAL:
        ended.add(task)
    return before


class TaskHistory(Struct, frozen=True):
    call: Exchange
    gets: tuple[Exchange, ...]
    updates: tuple[Exchange, ...]
    cancels: tuple[Exchange, ...]
    unsettled: bool
    """Whether the driver waited for it in vain."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (*self.call.frames, *(frame for exchange in self.gets[-1:] for frame in exchange.frames))

    @property
    def task(self) -> Task:
        """The task as the last tasks/get returned it."""
        return (self.gets[-1].result if self.gets else None) or {}

    @property
    def is_decided(self) -> bool:
        """Whether the last tasks/get shows the outcome: the task has ended, or the driver gave up."""
        return bool(self.gets) and (self.unsettled or self.task.get("status") not in UNDER_WAY)


def calls(trace: Trace, tool: str, *, declared: bool = True, **arguments: Any) -> Iterator[Exchange]:
    """Answered calls of a tool with these arguments, by a client that does or does not declare tasks."""
    for exchange in answered(trace, "tools/call", name=tool):
        actual = exchange.params.get("arguments")
        matches = isinstance(actual, dict) and all(actual.get(key) == arguments[key] for key in arguments)
        if matches and declares_tasks(exchange.params) is declared:
            yield exchange


def histories(trace: Trace, tool: str, **arguments: Any) -> Iterator[TaskHistory]:
    """The tasks that calls of a tool became."""
    for exchange in calls(trace, tool, **arguments):
        name = (exchange.result or {}).get("taskId")
        if isinstance(name, str):
            gets, updates, cancels = (tuple(task_exchanges(trace, method, name)) for method in METHODS)
            unsettled = any(mark.info.get("task") == name for mark in trace.marks(UNSETTLED))
            yield TaskHistory(exchange, gets, updates, cancels, unsettled)


def task_exchanges(trace: Trace, method: str, task: str) -> Iterator[Exchange]:
    """Answered requests about a task, by a client that declares tasks."""
    exchanges = answered(trace, method, taskId=task)
    return (exchange for exchange in exchanges if declares_tasks(exchange.params))


def observe_end(
    requirement: str, history: TaskHistory, faults_of: Callable[[Task], Iterable[str]], expected: str
) -> Iterator[Observation]:
    """How a task ended, if the driver saw the end or gave up."""
    if history.is_decided:
        yield no_faults(requirement, _end_faults(history, faults_of), history, expected=expected)


def _end_faults(history: TaskHistory, faults_of: Callable[[Task], Iterable[str]]) -> Iterator[str]:
    if history.gets[-1].result is None:
        yield str(history.gets[-1])
    elif history.task.get("status") not in FINAL:
        yield f"status {history.task.get('status')!r} in the end"
    else:
        yield from faults_of(history.task)


DECLARED: Final[dict[str, Any]] = {"extensions": {TASKS: {}}}
"""The capabilities of a client that declares tasks."""


METHODS: Final = ("tasks/get", "tasks/update", "tasks/cancel")


async def open_with_tasks(stage: Stage, **capabilities: Any) -> Peer:
    """A client that declares tasks, after its first discovery."""
    peer = await stage.open(**DECLARED, **capabilities)
    await peer.request("server/discover")
    return peer


async def call_tool(peer: Peer, tool: str, *, meta: dict[str, Any] | None = None, **arguments: Any) -> Reply:
    """Call a fixture; `meta` replaces the declarations of the client."""
    return await peer.request(
        "tools/call", {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
    )


# The makers of saboteurs, for a server with the double of the extension.
on_call = partial(harness.on_call, double=DOUBLE)
on_reply = partial(harness.on_reply, double=DOUBLE)
on_request = partial(harness.on_request, double=DOUBLE)
on_result = partial(harness.on_result, double=DOUBLE)
edited_results = partial(harness.edited_results, double=DOUBLE)
