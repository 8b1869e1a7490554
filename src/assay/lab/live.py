"""Work in progress, whose events can be followed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Generic, Self, TypeVar

from .error import Interrupted

Event = TypeVar("Event")
Result = TypeVar("Result")


class Live(Generic[Event, Result]):
    """Starts when its `async with` block is entered. Iterate over it for events; `result` is set at the end.

    Leaving the block early stops the work: `result` then holds what was known, with `interrupted` set.
    """

    def __init__(self, work: Callable[[Callable[[Event], None]], Awaitable[Result]]) -> None:
        self._work = work
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._task: asyncio.Task[Result] | None = None
        self._reported = False

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(lambda _: self._events.put_nowait(None))
        return self

    async def _run(self) -> Result:
        return await self._work(self._events.put_nowait)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait({self._task})
        if kind is None and not self._reported and not self._task.cancelled():
            self._task.result()  # raises an error that no iteration has raised

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        event = await self._events.get()
        if event is None:
            self._events.put_nowait(None)  # for the next call
            self._reported = True
            assert self.result is not None  # or it raises the error that ended the work
            raise StopAsyncIteration
        return event

    def interrupt(self) -> None:
        """Stop the work, as Ctrl-C does. Iteration continues until it has ended."""
        if self._task is not None:
            self._task.cancel()

    @property
    def result(self) -> Result:
        """
        Raises:
            Interrupted: the work was stopped before there was a result.
            RuntimeError: the work is not done.
        """
        if self._task is None or not self._task.done():
            raise RuntimeError("the result is there when the events have ended")
        if self._task.cancelled():
            raise Interrupted("interrupted: nothing was judged")
        return self._task.result()

    async def wait(self) -> Result:
        """Ignore the events and wait for the result."""
        async with self:
            async for _ in self:
                pass
        return self.result
