"""The call of a tool that runs as a task: the request that began it has been answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from copy import copy
from typing import TYPE_CHECKING, Any

from assay.model.jsonrpc import Notification
from assay.protocol.codec import encode
from assay.protocol.lifecycle import State
from assay.protocol.task import related
from assay.server.calls.call import Call

if TYPE_CHECKING:
    from assay.server.calls.question import AskOptions, Question

Ask = Callable[["Question[Any]", "AskOptions"], Awaitable[Any]]


class TaskCall(Call):
    """A call whose messages and questions go through its task.

    Until `begun`, it is part of its request: questions end the handler, and the request is answered with
    them.
    """

    def __init__(self, call: Call) -> None:
        # Not the base's: there is no message any more, only what was read from it.
        self.services, self.id, self.peer = call.services, call.id, call.peer
        self.params, self.decoded_params = call.params, call.decoded_params
        self.session, self.send = call.session, None
        self.scope = copy(call.scope)
        # The connection of the request says nothing about the task any more.
        self.scope.departure = self.scope.detach = self.scope.mirrors = None
        self.task_id: str | None = None
        self.on_progress: Callable[[str], None] | None = None
        self.begin_task: Callable[[], Awaitable[None]] | None = None
        self._sends = False

    def begun(self, task_id: str, ask: Ask, on_progress: Callable[[str], None], *, sends: bool) -> None:
        """Continue as a task.

        Args:
            task_id: Its id.
            ask: Asks the client through the task.
            on_progress: Called with a text for each progress.
            sends: Whether progress and log messages are sent to the client.
        """
        self.task_id, self.asks, self.on_progress, self._sends = task_id, ask, on_progress, sends

    async def start_task(self) -> bool:
        if self.task_id is None and self.begin_task is not None:
            await self.begin_task()
        return self.task_id is not None

    async def notify(self, method: str, params: Any) -> None:
        self.keep_alive()
        session = self.session
        if not self._sends or self.task_id is None or self.ended is not None:
            return
        if session is not None and session.state is not State.CLOSED:
            session.post(encode(Notification(method, related(self.task_id, params))))

    async def report_progress(self, progress: float, total: float | None, message: str | None) -> None:
        if self.on_progress is not None:
            self.on_progress(message or (f"{progress:g}" if total is None else f"{progress:g} of {total:g}"))
        if self._sends:
            await super().report_progress(progress, total, message)
        else:
            self.keep_alive()

    # As in the base, without the session: `notifications/cancelled` must not cancel a task, and neither does
    # the end of the session.
    def _begin_supervision(self) -> None:
        self._task = asyncio.current_task()
        assert self._task is not None
        self.services.running.add(self, self._task)
        self._start_timer()

    def _end_supervision(self) -> None:
        self._task = None
        self.services.running.remove(self)
        self._stop_timer()
