"""Threads for `def` handlers.

Not `concurrent.futures`: its threads are joined when the interpreter exits, so one stuck handler would keep a
stopped server alive. These are daemon threads, started on demand up to a limit.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

OnDone = Callable[[], None]
Job = tuple[contextvars.Context, Callable[..., Any], dict[str, Any], "asyncio.Future[Any]", OnDone]


class ThreadPool:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._lock = threading.Lock()
        self._count = 0
        self._free = 0

    def run(
        self, function: Callable[..., Any], arguments: dict[str, Any], on_done: OnDone = lambda: None
    ) -> asyncio.Future[Any]:
        """Call the function in a thread, in a copy of the current context; await the future for its outcome.

        `on_done` is called in the event loop when the thread has finished. That may be after the future is
        done: a thread cannot be stopped, so a cancelled function runs to its end.
        """
        future = asyncio.get_running_loop().create_future()
        with self._lock:
            self._free -= 1
            if self._free < 0 and self._count < self._limit:
                self._count += 1
                self._free += 1
                name = f"assay-handler-{self._count}"
                threading.Thread(target=self._work, name=name, daemon=True).start()
        self._jobs.put((contextvars.copy_context(), function, arguments, future, on_done))
        return future

    def _work(self) -> None:
        while True:
            _run(*self._jobs.get())
            with self._lock:
                self._free += 1


def _run(
    context: contextvars.Context,
    function: Callable[..., Any],
    arguments: dict[str, Any],
    future: asyncio.Future[Any],
    on_done: OnDone,
) -> None:
    value, failure = None, None
    try:
        if not future.done():  # it may have been cancelled while it waited for a thread
            value = context.run(function, **arguments)
    except BaseException as error:
        # A future cannot carry these two: it refuses the one, and the other would close the task that waits.
        unfit = isinstance(error, StopIteration | GeneratorExit)
        failure = RuntimeError(f"handler raised {type(error).__name__}") if unfit else error
    try:
        future.get_loop().call_soon_threadsafe(_settle, future, value, failure, on_done)
    except RuntimeError:
        return  # the loop was closed while the handler ran


def _settle(future: asyncio.Future[Any], value: Any, failure: BaseException | None, on_done: OnDone) -> None:
    on_done()
    if future.done():
        return
    if failure is None:
        future.set_result(value)
    else:
        future.set_exception(failure)
