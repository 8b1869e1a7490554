"""The iterators of `SyncClient`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self

from assay.model.notice import Change, Progress
from assay.model.result import ToolResult
from assay.model.task import TaskState

from .changes import Changes
from .running_call import RunningCall
from .task import RunningTask

Run = Callable[[Coroutine[Any, Any, Any]], Any]
"""Runs a coroutine on the loop of the client, and waits for it."""


class SyncChanges:
    """Changes of a server, from `SyncClient.listen` and `SyncClient.subscribe`; see `Changes`."""

    def __init__(self, run: Run, changes: Changes) -> None:
        self._run = run
        self._changes = changes

    def open(self) -> Self:
        """Ask the server to announce the changes; `with` does this."""
        self._run(self._changes.open())
        return self

    def close(self) -> None:
        """End the stream. Idempotent."""
        self._run(self._changes.close())

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Change:
        change: Change | None = self._run(_next(self._changes))
        if change is None:
            raise StopIteration
        return change


class SyncCall:
    """A call in progress, from `SyncClient.start_tool`; see `RunningCall`."""

    def __init__(self, run: Run, call: RunningCall) -> None:
        self._run = run
        self._call = call

    def result(self) -> ToolResult:
        """Wait for the result."""
        result: ToolResult = self._run(_result(self._call))
        return result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run(self._call.__aexit__(None, None, None))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Progress:
        report: Progress | None = self._run(_next(self._call))
        if report is None:
            raise StopIteration
        return report


class SyncTask:
    """A task, from `SyncClient.call_task` and `SyncClient.task`; see `RunningTask`."""

    def __init__(self, run: Run, task: RunningTask) -> None:
        self._run = run
        self._task = task
        self.id = task.id

    @property
    def state(self) -> TaskState | None:
        """As the last poll showed it."""
        return self._task.state

    def result(self) -> ToolResult:
        """Wait for the result."""
        result: ToolResult = self._run(_result(self._task))
        return result

    def poll(self) -> TaskState:
        """Ask for the state of the task."""
        state: TaskState = self._run(self._task.poll())
        return state

    def cancel(self) -> None:
        """Ask the server to cancel the task."""
        self._run(self._task.cancel())


async def _next(iterator: Changes | RunningCall) -> Any:
    # Not StopAsyncIteration: a coroutine cannot raise it.
    return await anext(iterator, None)


async def _result(call: RunningCall | RunningTask) -> ToolResult:
    return await call
