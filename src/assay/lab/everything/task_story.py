"""Tasks as checks read them: the call that became one, and all that was asked about it afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation

from .answered import answered
from .extension import declares_tasks
from .faults import judged
from .task_shape import ENDS, UNDER_WAY

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
