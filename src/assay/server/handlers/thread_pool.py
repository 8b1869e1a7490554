"""Threads for `def` handlers.

Not `concurrent.futures`: its threads are joined when the interpreter exits, so one stuck handler would keep a
stopped server alive. These are daemon threads, started on demand up to a limit.

A thread cannot be stopped. If a call ends before its handler does, another thread takes the place of the one
that is still occupied, up to a bound of spare threads. The same bound applies to threads for clients that
have none, while others occupy all of them.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from queue import SimpleQueue
from time import monotonic
from typing import Any

from assay.model.visible import visible_record

from .fair_queue import FairQueue

logger = logging.getLogger("assay")
logger.addFilter(visible_record)


@dataclass(slots=True, eq=False)
class Job:
    """One call of a function."""

    function: Callable[..., Any]
    arguments: dict[str, Any]
    on_done: Callable[[], None]
    on_start: Callable[[], None] | None
    client: Hashable
    name: str
    future: asyncio.Future[Any]
    context: contextvars.Context
    started: float | None = None
    thread: str = ""
    finished: bool = False
    overdue: bool = False
    """Its call has ended, and it still runs."""


class ThreadPool:
    """
    Args:
        limit: Threads that run at once.
        spare: Threads beyond the limit, for those that are overdue and for clients that have none.
        patience: Seconds after which a job whose call has ended is reported in the log; None for never.
    """

    def __init__(self, limit: int, spare: int = 0, patience: float | None = None) -> None:
        self._limit = limit
        self._spare = spare
        self._patience = patience
        self._jobs: FairQueue[Job] = FairQueue()
        self._signals: SimpleQueue[None] = SimpleQueue()
        """One for each job that was added to the queue."""
        self._lock = threading.Lock()
        self._running: Counter[Hashable] = Counter()
        self._started = 0
        self._count = 0
        self._free = 0
        """Threads without a job, minus jobs without a thread."""
        self._overdue = 0

    @property
    def is_full(self) -> bool:
        """Whether a further job has to wait for a thread."""
        return self._free <= 0 and self._count >= self._allowed

    @property
    def _allowed(self) -> int:
        return self._limit + min(self._overdue, self._spare)

    def run(
        self,
        function: Callable[..., Any],
        arguments: dict[str, Any],
        on_done: Callable[[], None] = lambda: None,
        *,
        on_start: Callable[[], None] | None = None,
        client: Hashable = None,
        name: str = "",
    ) -> asyncio.Future[Any]:
        """Call the function in a thread, in a copy of the current context; await the future for its outcome.

        Args:
            function: The function.
            arguments: Its arguments, by name.
            on_done: Called in the event loop when the thread has finished. That may be after the future is
                done: a thread cannot be stopped, so a cancelled function runs to its end.
            on_start: Called in the thread, just before the function.
            client: Jobs that wait are started one of each client in turn.
            name: How the log names the function.
        """
        future = asyncio.get_running_loop().create_future()
        context = contextvars.copy_context()
        job = Job(function, arguments, on_done, on_start, client, name, future, context)
        future.add_done_callback(lambda _: self._on_end(job))
        with self._lock:
            self._free -= 1
            if self._is_starved(client) and self._count < self._limit + self._spare:
                self._start_thread(job)
            else:
                self._jobs.put(client, job)
                self._signals.put(None)
                self._start_thread_if_needed()
        return future

    def _is_starved(self, client: Hashable) -> bool:
        """Whether all threads are occupied, and none by this client."""
        full = self._free < 0 and self._count >= self._allowed
        return full and not self._running[client] and not self._jobs.length_of(client)

    def _start_thread_if_needed(self) -> None:
        if self._free < 0 and self._count < self._allowed:
            self._start_thread(None)

    def _start_thread(self, job: Job | None) -> None:
        self._count += 1
        self._free += 1
        self._started += 1
        if job is not None:
            self._begin(job)
        name = f"assay-handler-{self._started}"
        threading.Thread(target=self._work, args=(job,), name=name, daemon=True).start()

    def _begin(self, job: Job) -> None:
        job.started = monotonic()
        self._running[job.client] += 1

    def _work(self, job: Job | None) -> None:
        while True:
            if self._serve(job or self._next()):
                return
            job = None

    def _next(self) -> Job:
        while True:
            self._signals.get()
            with self._lock:
                job = self._jobs.take()
                if job is not None:  # it may have been removed from the queue
                    self._begin(job)
                    return job

    def _serve(self, job: Job) -> bool:
        """Run a job; true if its thread has to end, because there are more than allowed."""
        value, failure = None, None
        job.thread = threading.current_thread().name
        try:
            if not job.future.done():  # it may have been cancelled in the meantime
                if job.on_start is not None:
                    job.on_start()
                value = job.context.run(job.function, **job.arguments)
        except BaseException as error:
            # A future cannot carry these two: it refuses the one, and the other would close the task that
            # waits.
            unfit = isinstance(error, StopIteration | GeneratorExit)
            failure = RuntimeError(f"handler raised {type(error).__name__}") if unfit else error
        with self._lock:
            ends = self._finish(job)
        try:
            job.future.get_loop().call_soon_threadsafe(_settle, job, value, failure)
        except RuntimeError:
            pass  # the loop was closed while the handler ran
        return ends

    def _finish(self, job: Job) -> bool:
        job.finished = True
        if job.overdue:
            self._overdue -= 1
        else:
            self._leave(job)
        ends = self._count > self._allowed
        if ends:
            self._count -= 1
        else:
            self._free += 1
        return ends

    def _leave(self, job: Job) -> None:
        self._running[job.client] -= 1
        if not self._running[job.client]:
            del self._running[job.client]

    def _on_end(self, job: Job) -> None:
        """The call of a job has ended, in most cases because the job has finished."""
        if job.finished:
            return
        with self._lock:
            if self._jobs.discard(job.client, job):
                self._free += 1
            elif job.finished or job.started is None:
                return
            else:
                job.overdue = True
                self._overdue += 1
                self._leave(job)
                self._start_thread_if_needed()
        if job.overdue:
            self._watch(job)
        else:
            job.on_done()

    def _watch(self, job: Job) -> None:
        if self._patience is not None and job.started is not None:
            delay = max(0.0, self._patience - (monotonic() - job.started))
            job.future.get_loop().call_later(delay, self._report, job)

    def _report(self, job: Job) -> None:
        if not job.finished and job.started is not None:
            logger.warning(
                "%s still runs after %.0f s in thread %s, although its call has ended: "
                "%d such threads, of which %d are replaced",
                job.name,
                monotonic() - job.started,
                job.thread,
                self._overdue,
                min(self._overdue, self._spare),
            )


def _settle(job: Job, value: Any, failure: BaseException | None) -> None:
    job.on_done()
    if job.future.done():
        return
    if failure is None:
        job.future.set_result(value)
    else:
        job.future.set_exception(failure)
