"""The tasks of a server: created, run in this process, kept in a store, shown to their owners."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from os import urandom
from typing import Any, Final

from msgspec import Raw, Struct

from assay.extensions.tasks import TASK_IDS
from assay.model.error import INTERNAL_ERROR, Busy, RpcError, StoreAway
from assay.model.jsonrpc import Notification
from assay.model.result import ToolResult
from assay.model.task import Status, TaskOptions, TaskRecord
from assay.protocol.codec import encode
from assay.protocol.lifecycle import State
from assay.protocol.middleware import Ending, Serve
from assay.protocol.principal import digest_of_principal
from assay.protocol.task import RULES, detailed, moved, shown
from assay.revisions.revision import TaskForm
from assay.server.calls.call import Call
from assay.server.dispatch.failure import to_rpc_error
from assay.server.dispatch.notifier import ChangeNotifier
from assay.server.dispatch.services import Services
from assay.server.results.typed_result import ResultWriter
from assay.store.port import Bus, StoreFull, TaskStore

from .record_view import failed_with, readable, visible_state, wait_for
from .remote_question import RemoteQuestions
from .task_call import TaskCall
from .task_run import Change, TaskRun

SHORTEST_TTL: Final = 1000
"""Milliseconds. A client that asks for less could not read the result."""
ID_BYTES: Final = 24
STOPPED: Final = "the server stopped while the task was running"
DIED: Final = "the process that ran the task has ended; whether it had finished its work is unknown"
LIFE_CHECK: Final = 1.0
"""Seconds between two checks whether the process that runs a task lives."""
ANNOUNCED_KEPT: Final = 1000
PERSISTENCE: Final = 1.0
"""Seconds between two attempts to store the end of a task while the store is away."""


class Wish(Struct, frozen=True):
    """A tool call that is to run as a task."""

    tool: str
    options: TaskOptions
    form: TaskForm
    ttl: int | None = None
    """The milliseconds that its client asked for."""


class _Failed(Struct):
    """An exception that ended a handler before it became a task."""

    error: BaseException


class Tasks:
    """Tasks of one server.

    Args:
        store: Keeps them.
        services: The parts of the server.
        notifier: Sends changes to listen streams.
        writer: Writes results for revisions in which they have common fields.
        worker: The name of this process among those that share the store.
        clock: Seconds since the epoch.
    """

    def __init__(
        self,
        store: TaskStore,
        services: Services,
        notifier: ChangeNotifier,
        writer: ResultWriter,
        *,
        worker: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._services = services
        self._notifier = notifier
        self._writer = writer
        self._worker = worker
        self._clock = clock
        self._runs: dict[str, TaskRun] = {}
        self._waiters: dict[str, set[asyncio.Event]] = {}
        self._sweep: asyncio.TimerHandle | None = None
        self._is_recovered = False
        self._bus: Bus | None = None
        self._announced: OrderedDict[str, object] = OrderedDict()
        """The states of tasks in other processes that listen streams were last notified of."""
        self._unwatch = store.watch(self._changed)

    def move(self, store: TaskStore, bus: Bus) -> None:
        """Use another store from now on. Call it before the first task."""
        self._unwatch()
        self._store, self._bus, self._worker = store, bus, bus.worker
        self._unwatch = store.watch(self._changed)

    # Creation and work.

    async def begin(self, wish: Wish, call: Call, serve: Serve) -> dict[str, Any] | Any:
        """Run a tool call as a task. Returns the fields of the task; of a call that ends before it becomes a
        task, the result.

        Raises:
            Busy: there are too many tasks.
        """
        run = TaskRun(TaskCall(call), self)
        if wish.options.mode != "on_demand" or wish.form is TaskForm.CORE:
            record = await self._create(wish, run)
            self._start(run, serve)
            return shown(record, wish.form)
        return await self._begin_on_demand(wish, run, call, serve)

    async def _begin_on_demand(self, wish: Wish, run: TaskRun, call: Call, serve: Serve) -> Any:
        created: asyncio.Future[TaskRecord] = asyncio.get_running_loop().create_future()

        async def create() -> None:
            created.set_result(await self._create(wish, run))

        run.call.begin_task = create
        work = self._start(run, serve)
        call.pause()  # the idle timeout of the handler applies
        try:
            await call.supervise(asyncio.wait({work, created}, return_when=asyncio.FIRST_COMPLETED))
        except BaseException:
            run.cancel("its request has ended")
            raise
        if created.done():
            return shown(created.result(), wish.form)
        outcome = work.result()
        if isinstance(outcome, _Failed):
            raise outcome.error
        return outcome

    async def _create(self, wish: Wish, run: TaskRun) -> TaskRecord:
        await self._recover()
        limits, options, call = self._services.limits, wish.options, run.call
        longest = int(limits.task_ttl * 1000)
        default = longest if options.ttl is None else min(longest, int(options.ttl * 1000))
        now = self._clock()
        record = TaskRecord(
            id=urandom(ID_BYTES).hex(),
            owner=digest_of_principal(call.scope.principal),
            form=wish.form.value,
            tool=wish.tool,
            worker=self._worker,
            created=now,
            updated=now,
            ttl=default if wish.ttl is None else max(SHORTEST_TTL, min(wish.ttl, longest)),
            poll_interval=max(1, int(options.poll_interval * 1000)),
        )
        try:
            record = await self._store.add(record)
        except StoreFull as error:
            raise Busy(str(error)) from None
        call.begun(record.id, run.ask, run.show, sends=RULES[wish.form].sends_progress)
        self._runs[record.id] = run
        await self._schedule_sweep()
        return record

    def _start(self, run: TaskRun, serve: Serve) -> asyncio.Task[Any]:
        run.task = asyncio.get_running_loop().create_task(self._work(run, serve))
        run.task.add_done_callback(partial(self._ended, run))
        return run.task

    async def _work(self, run: TaskRun, serve: Serve) -> Any:
        try:
            result = await serve(run.call)
        except BaseException as error:
            # All of them, as for a plain call: `sys.exit` in a handler must not stop the server.
            if run.call.task_id is None:
                return _Failed(error)
            await self._fail(run, error)
            return None
        finally:
            run.call.finished = True
        return result if run.call.task_id is None else await self._complete(run, result)

    def _ended(self, run: TaskRun, work: asyncio.Task[Any]) -> None:
        run.close()
        if run.call.task_id is not None:
            self._runs.pop(run.call.task_id, None)
        if not work.cancelled() and work.exception() is not None:
            work.get_loop().call_exception_handler(
                {"message": "a task failed", "exception": work.exception()}
            )

    async def _complete(self, run: TaskRun, result: Any) -> None:
        rules = RULES[run.call.peer.revision.tasks]
        is_error = isinstance(result, ToolResult) and result.is_error
        message = result.text[:1024] if is_error and isinstance(result, ToolResult) else run.last_message
        status = rules.tool_error if is_error else Status.COMPLETED
        raw = Raw(encode(result))
        try:
            await self._conclude(
                run.task_id, lambda record, now: moved(record, status, now, result=raw, message=message)
            )
        except StoreFull as error:
            await self._fail(run, RpcError(INTERNAL_ERROR, f"the result of the task cannot be kept: {error}"))

    async def _fail(self, run: TaskRun, error: BaseException) -> None:
        stopped = not isinstance(error, Exception) and run.call.ending_of(error) is Ending.CANCELLED
        failure = (
            RpcError(INTERNAL_ERROR, STOPPED) if stopped else to_rpc_error(error, run.call, "tools/call")
        )
        if failure is not None:
            await self._conclude(run.task_id, failed_with(failure))

    async def _conclude(self, task_id: str, change: Change) -> None:
        """Store how a task has ended, also if the store is away for a while.

        Raises:
            StoreFull: the result does not fit.
        """
        deadline = self._clock() + self._services.limits.task_ttl
        while True:
            try:
                await self.change(task_id, change)
                return
            except StoreAway:
                if self._clock() > deadline:
                    raise
            await asyncio.sleep(PERSISTENCE)

    async def change(self, task_id: str, change: Change, /) -> TaskRecord | None:
        """Change a task. Returns its new version; None if it is gone, or the change does not apply.

        Raises:
            StoreFull: the new version does not fit.
        """
        while True:
            record = await self._store.load(task_id)
            following = None if record is None else change(record, self._clock())
            if following is None or await self._store.swap(following):
                return following

    async def _recover(self) -> None:
        """Fail the tasks that this worker ran before it was started again: nothing works on them."""
        if not self._is_recovered:
            self._is_recovered = True
            for record in await self._store.unfinished(self._worker):
                if record.id not in self._runs:
                    await self.change(record.id, failed_with(RpcError(INTERNAL_ERROR, STOPPED)))

    # What others see.

    async def find(self, call: Call, task_id: str) -> TaskRecord:
        """
        Raises:
            RpcError: the caller has no such task.
        """
        await self._recover()
        record = await self._store.load(task_id)
        form = call.peer.revision.tasks
        if (
            record is None
            or record.owner != digest_of_principal(call.scope.principal)
            or record.form != form.value
        ):
            raise RpcError(RULES[form].unknown, f"unknown task: {task_id[:64]}; it may have expired")
        return record if await self._is_served(record) else await self._abandon(record)

    async def _is_served(self, record: TaskRecord) -> bool:
        """Whether the task has ended, or the process that works on it lives."""
        if record.is_finished or self._bus is None or record.worker == self._worker:
            return True
        return await self._bus.is_alive(record.worker)

    async def _abandon(self, record: TaskRecord) -> TaskRecord:
        """Fail a task whose process has died."""
        changed = await self.change(record.id, failed_with(RpcError(INTERNAL_ERROR, DIED)))
        return changed or await self._store.load(record.id) or record

    async def page(self, call: Call, after: int, limit: int) -> list[TaskRecord]:
        await self._recover()
        form = call.peer.revision.tasks.value
        return await self._store.page(digest_of_principal(call.scope.principal), form, after, limit)

    async def newest(self) -> int:
        return await self._store.newest()

    def show(self, record: TaskRecord) -> dict[str, Any]:
        """A task of the extension, with its outcome or its open questions."""
        result = None if record.result is None else self._writer.complete(readable(record.result))
        return detailed(record, result)

    async def wait(self, call: Call, record: TaskRecord) -> TaskRecord:
        """Wait until a task has ended. Its questions are sent to the client that waits.

        Raises:
            RpcError: it has expired meanwhile.
        """
        event = asyncio.Event()
        waiters = self._waiters.setdefault(record.id, set())
        waiters.add(event)
        call.pause()  # a task may be silent for as long as its handler is
        remote = RemoteQuestions(call, self)
        try:
            while not record.is_finished:
                event.clear()
                run = self._runs.get(record.id)
                if run is not None:
                    await run.deliver(call)
                else:
                    await remote.deliver(record)
                await call.supervise(wait_for(event, None if run is not None else LIFE_CHECK))
                record = await self.find(call, record.id)
        finally:
            remote.take_back()
            waiters.discard(event)
            if not waiters:
                self._waiters.pop(record.id, None)
            run = self._runs.get(record.id)
            if run is not None:
                run.take_back(call)
        return record

    def _changed(self, record: TaskRecord) -> None:
        run = self._runs.get(record.id)
        if run is not None:
            run.receive(record)
            if record.status is Status.CANCELLED:
                run.cancel("the task was cancelled")
            self._announce(record, run)
        elif record.form == TaskForm.EXTENSION.value and self._bus is not None:
            self._announce_remote(record)
        for event in self._waiters.get(record.id, ()):
            event.set()

    def _announce(self, record: TaskRecord, run: TaskRun) -> None:
        state = visible_state(record)
        if state == run.announced:
            return
        run.announced = state
        session = run.call.session
        if record.form == TaskForm.EXTENSION.value:
            self._notifier.publish(TASK_IDS, record.id, "notifications/tasks", self.show(record))
        elif session is not None and session.ready and session.state is not State.CLOSED:
            params = shown(record, TaskForm.CORE)
            session.post(encode(Notification("notifications/tasks/status", params)))

    def _announce_remote(self, record: TaskRecord) -> None:
        state = visible_state(record)
        if self._announced.get(record.id) != state:
            self._announced[record.id] = state
            if len(self._announced) > ANNOUNCED_KEPT:
                self._announced.popitem(last=False)
            self._notifier.publish(TASK_IDS, record.id, "notifications/tasks", self.show(record))

    # Expiry.

    async def sweep(self) -> None:
        """Delete expired tasks, and end those that still run."""
        self._sweep = None
        for task_id in await self._store.evict():
            run = self._runs.pop(task_id, None)
            if run is not None:
                run.cancel("the task has expired")
            for event in self._waiters.get(task_id, ()):
                event.set()
        await self._schedule_sweep()

    async def _schedule_sweep(self) -> None:
        expiry = await self._store.next_expiry()
        loop = asyncio.get_running_loop()
        if expiry is None:
            return
        due = loop.time() + max(0.0, expiry - self._clock())
        if self._sweep is not None and (self._sweep.when() <= due or self._sweep.cancelled()):
            return
        if self._sweep is not None:
            self._sweep.cancel()
        self._sweep = loop.call_at(due, lambda: asyncio.ensure_future(self.sweep()))
