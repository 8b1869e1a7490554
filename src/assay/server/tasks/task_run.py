"""One task whose handler runs in this process: its questions, its progress, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any, Final, Protocol

import msgspec
from msgspec import UNSET, Raw, Struct

from assay.model.error import AskError
from assay.model.jsonrpc import Request
from assay.model.result import InputRequest
from assay.model.task import TaskRecord
from assay.protocol.codec import encode
from assay.protocol.task import asked, moved, related, withdrawn
from assay.server.calls.call import Call
from assay.server.calls.question import AskOptions, Question

from .task_call import TaskCall

MESSAGE_INTERVAL: Final = 0.25
"""Seconds between two changes of a status message. Progress in between replaces the one that waits."""
MESSAGE_LENGTH: Final = 1024
"""Characters of a status message."""

Change = Callable[[TaskRecord, float], TaskRecord | None]


class Records(Protocol):
    async def change(self, task_id: str, change: Change, /) -> TaskRecord | None:
        """Change a task. Returns its new version; None if it is gone, or the change does not apply."""
        ...


class _Waiting(Struct):
    """A question to the client, until it is answered."""

    request: InputRequest
    answer: asyncio.Future[Raw]
    request_id: str | None = None
    """The id under which it was sent, where questions are requests."""


class TaskRun:
    """Connects a handler with the record of its task."""

    def __init__(self, call: TaskCall, records: Records) -> None:
        self.call = call
        self.task: asyncio.Task[Any] | None = None
        self.announced: object = None
        """What clients were last notified of."""
        self._records = records
        self._questions: dict[str, _Waiting] = {}
        self._keys: set[str] = set()
        """Keys of all questions so far: none is used twice in the life of a task."""
        self._numbers = count(1)
        self._message: str | None = None
        self._message_timer: asyncio.TimerHandle | None = None
        self._last_message = float("-inf")
        self._updates: set[asyncio.Task[Any]] = set()

    @property
    def task_id(self) -> str:
        assert self.call.task_id is not None
        return self.call.task_id

    def cancel(self, reason: str) -> None:
        """End the handler; its outcome is discarded."""
        self.call.cancel(reason)
        if self.call.ended is None and self.task is not None:
            self.task.cancel()  # it waits for something else than its handler

    def close(self) -> None:
        if self._message_timer is not None:
            self._message_timer.cancel()
            self._message_timer = None

    # Questions.

    async def ask(self, question: Question[Any], options: AskOptions) -> Any:
        params = UNSET if question.params is None else question.params
        key = self._new_key(options.key)
        waiting = _Waiting(InputRequest(question.method, params), asyncio.get_running_loop().create_future())
        self._questions[key] = waiting
        raw = Raw(encode(waiting.request))
        self.call.pause()
        try:
            if (
                await self._records.change(self.task_id, lambda record, now: asked(record, key, raw, now))
                is None
            ):
                raise AskError("the client cannot be asked: the task has ended")
            async with asyncio.timeout(options.timeout):
                return question.read(await waiting.answer)
        except TimeoutError:
            raise AskError(
                f"the client did not answer {question.method} within {options.timeout:g} s"
            ) from None
        finally:
            self.call.resume()
            del self._questions[key]
            await self._withdraw(key)

    def _new_key(self, wanted: str | None) -> str:
        fresh = (f"question-{number}" for number in self._numbers)
        key = wanted if wanted is not None and wanted not in self._keys else None
        if key is None:
            key = next(candidate for candidate in fresh if candidate not in self._keys)
        self._keys.add(key)
        return key

    async def _withdraw(self, key: str) -> None:
        """Remove a question that is answered or no longer needed, and its answer."""

        def change(record: TaskRecord, now: float) -> TaskRecord | None:
            if key not in record.questions and key not in record.answers:
                return None
            left = withdrawn(record, {key: None}, now)
            answers = {name: answer for name, answer in record.answers.items() if name != key}
            return None if left is None else msgspec.structs.replace(left, answers=answers)

        await self._records.change(self.task_id, change)

    def receive(self, record: TaskRecord) -> None:
        """Pass answers that have arrived to the handler."""
        for key, answer in record.answers.items():
            waiting = self._questions.get(key)
            if waiting is not None and not waiting.answer.done():
                waiting.answer.set_result(answer)

    async def deliver(self, call: Call) -> None:
        """Send the open questions as requests, on the stream of a request for the task's result."""
        session, send = call.session, call.send
        if session is None or send is None:
            return
        for waiting in list(self._questions.values()):
            if waiting.request_id is None and not waiting.answer.done():
                waiting.request_id = session.outgoing_requests.ask(waiting.answer)
                params = waiting.request.params
                params = related(self.task_id, None if params is UNSET else params)
                await send(encode(Request(waiting.request_id, waiting.request.method, params)))

    def take_back(self, call: Call) -> None:
        """Send the open questions again on the next stream: the one that carried them has ended."""
        for waiting in self._questions.values():
            if waiting.request_id is not None and not waiting.answer.done():
                if call.session is not None:
                    call.session.outgoing_requests.forget(waiting.request_id)
                waiting.request_id = None

    # Progress.

    def show(self, message: str) -> None:
        """Set the status message, at most one in each interval."""
        self._message = message[:MESSAGE_LENGTH]
        if self._message_timer is None:
            loop = asyncio.get_running_loop()
            due = max(self._last_message + MESSAGE_INTERVAL, loop.time())
            self._message_timer = loop.call_at(due, self._write_message)

    def _write_message(self) -> None:
        self._message_timer = None
        self._last_message = asyncio.get_running_loop().time()
        update = asyncio.ensure_future(self._records.change(self.task_id, self.with_message))
        self._updates.add(update)
        update.add_done_callback(self._updates.discard)

    def with_message(self, record: TaskRecord, now: float) -> TaskRecord | None:
        return moved(record, record.status, now, message=self._message or record.message)

    @property
    def last_message(self) -> str | None:
        return self._message
