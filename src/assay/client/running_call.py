"""A tool call whose progress is an asynchronous iterator."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from types import TracebackType
from typing import Any, Final, Self

from assay.model.notice import Progress
from assay.model.result import ToolResult

MOST_WAITING: Final = 100
"""Reports that wait; the oldest are dropped, since later ones include them."""


class RunningCall:
    """A call in progress, from `Client.start_tool`.

        async with client.start_tool("import", {"path": "data.csv"}) as call:
            async for report in call:
                print(report.progress, report.total)
            result = await call

    The iteration ends with the call. Leaving `async with` before that cancels the call. If more than 100
    reports wait, the oldest are dropped.
    """

    def __init__(self, start: Callable[[Callable[[Progress], None]], Awaitable[ToolResult]]) -> None:
        self._reports: deque[Progress] = deque(maxlen=MOST_WAITING)
        self._arrived = asyncio.Event()
        self._task: asyncio.Future[ToolResult] = asyncio.ensure_future(start(self._post))
        self._task.add_done_callback(self._finish)

    def _post(self, report: Progress) -> None:
        self._reports.append(report)
        self._arrived.set()

    def _finish(self, task: asyncio.Future[ToolResult]) -> None:
        self._arrived.set()
        if not task.cancelled():
            task.exception()  # the caller may have left without waiting for it

    @property
    def is_done(self) -> bool:
        return self._task.done()

    def __await__(self) -> Generator[Any, None, ToolResult]:
        """The result. Cancelling this wait cancels the call.

        Raises:
            ClientError: as `Client.call_tool`.
        """
        return self._task.__await__()

    def cancel(self) -> None:
        """Cancel the call; the server is notified."""
        self._task.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Progress:
        while not self._reports:
            if self._task.done():
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        return self._reports.popleft()
