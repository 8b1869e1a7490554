"""Messages that a server sends on its own: questions and notifications."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, Protocol

import msgspec
from msgspec import Raw, Struct, field

from assay.model.error import INTERNAL_ERROR, INVALID_REQUEST, RpcError
from assay.model.jsonrpc import Envelope, Outcome, Reply, RequestId
from assay.model.notice import Change, LogMessage, Progress
from assay.protocol.codec import error_reply
from assay.protocol.opening import PREFIX

from .answer import Handlers
from .callback import Callback, CallbackQueue
from .log import client_logger

CHANGES: Final = {
    "notifications/tools/list_changed": Change("tools"),
    "notifications/prompts/list_changed": Change("prompts"),
    "notifications/resources/list_changed": Change("resources"),
}


class Notices(Struct, frozen=True):
    """The callbacks that the user passed to `Client`."""

    on_log: Callback | None = None
    on_change: Callback | None = None


class _ProgressParams(Progress, rename="camel"):
    progress_token: int | str = field(name="progressToken", default="")


class _Uri(Struct):
    uri: str


class _Subscription(Struct):
    subscription: int | str | None = field(name=f"{PREFIX}subscriptionId", default=None)


class _WithSubscription(Struct):
    meta: _Subscription = field(name="_meta", default_factory=_Subscription)


class _Cancelled(Struct, rename="camel"):
    request_id: int | str


class Tasks(Protocol):
    """Starts work that ends with the client."""

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]: ...


class Incoming:
    """Passes messages to callbacks and handlers, and answers to `reply`."""

    def __init__(
        self,
        handlers: Handlers,
        notices: Notices,
        queue: CallbackQueue,
        tasks: Tasks,
        reply: Callable[[Outcome], Coroutine[Any, Any, None]],
        most_questions: int,
    ) -> None:
        self._handlers = handlers
        self._notices = notices
        self._queue = queue
        self._tasks = tasks
        self._reply = reply
        self._most_questions = most_questions
        self._questions: dict[RequestId, asyncio.Task[None]] = {}
        self._replies = 0
        self.progress: dict[RequestId, Callback] = {}
        """Callbacks of the calls in progress, by their progress token."""
        self.subscription: RequestId | None = None
        """The id of the listen stream whose changes are ours; None in revisions without such streams."""

    def notify(self, message: Envelope) -> None:
        """Take a notification. Those without a callback, and invalid ones, are ignored."""
        method: Any = message.method
        try:
            if method == "notifications/progress":
                self._on_progress(message.params)
            elif method in CHANGES or method == "notifications/resources/updated":
                self._on_change(method, message.params)
            elif method == "notifications/message" and self._notices.on_log is not None:
                self._queue.post(self._notices.on_log, msgspec.json.decode(message.params, type=LogMessage))
            elif method == "notifications/cancelled":
                self._on_cancelled(message.params)
        except (msgspec.DecodeError, RecursionError) as error:
            client_logger().warning("the server sent an invalid %s: %s", method, error)

    def _on_progress(self, params: Raw) -> None:
        if self.progress:
            notice = msgspec.json.decode(params, type=_ProgressParams)
            callback = self.progress.get(notice.progress_token)
            if callback is not None:
                self._queue.post(callback, Progress(notice.progress, notice.total, notice.message))

    def _on_change(self, method: str, params: Raw) -> None:
        if self._notices.on_change is None:
            return
        meta = msgspec.json.decode(params, type=_WithSubscription).meta
        if self.subscription is not None and meta.subscription != self.subscription:
            return  # of another stream on the same connection (basic/patterns/subscriptions)
        change = CHANGES.get(method)
        if change is None:
            change = Change("resource", msgspec.json.decode(params, type=_Uri).uri)
        self._queue.post(self._notices.on_change, change)

    def _on_cancelled(self, params: Raw) -> None:
        task = self._questions.get(msgspec.json.decode(params, type=_Cancelled).request_id)
        if task is not None:
            task.cancel()

    def ask(self, message: Envelope) -> None:
        """Take a question; its answer is sent when the handler returns."""
        request_id: Any = message.id
        if message.method == "ping":
            self._reply_soon(Reply(request_id, {}))
        elif len(self._questions) >= self._most_questions or request_id in self._questions:
            busy = RpcError(INVALID_REQUEST, f"too many questions at once: limit {self._most_questions}")
            self._reply_soon(error_reply(busy, request_id))
        else:
            self._questions[request_id] = self._tasks.spawn(self._answer(message))

    def _reply_soon(self, outcome: Outcome) -> None:
        """Reply, unless the server does not read the replies: those that wait would take ever more memory."""
        if self._replies >= self._most_questions:
            return
        self._replies += 1
        self._tasks.spawn(self._reply(outcome)).add_done_callback(self._on_replied)

    def _on_replied(self, task: asyncio.Task[None]) -> None:
        self._replies -= 1

    async def _answer(self, message: Envelope) -> None:
        request_id: Any = message.id
        method: Any = message.method
        try:
            outcome: Outcome = Reply(request_id, await self._handlers.answer(method, message.params))
        except RpcError as error:
            outcome = error_reply(error, request_id)
        except Exception:
            client_logger().exception("the handler for %s failed", method)
            outcome = error_reply(RpcError(INTERNAL_ERROR, "the client's handler failed"), request_id)
        finally:
            self._questions.pop(request_id, None)
        await self._reply(outcome)

    async def answer_all(self, requests: Mapping[str, Any]) -> dict[str, Any]:
        """The answers to the questions of a result, by their keys. A handler's exception is the caller's."""
        return {
            key: await self._handlers.answer(request.method, request.params)
            for key, request in requests.items()
        }
