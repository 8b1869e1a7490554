"""Messages that a server sends on its own: questions and notifications."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec
from msgspec import Raw, Struct, UnsetType, field

from assay.model.client_error import ClientError, ConnectionFailed, InvalidAnswer, ServerError
from assay.model.client_limits import ClientLimits
from assay.model.error import INTERNAL_ERROR, INVALID_REQUEST, RpcError
from assay.model.jsonrpc import Envelope, Outcome, Reply, RequestId
from assay.model.notice import Change, LogMessage, Progress
from assay.protocol.codec import error_reply
from assay.protocol.opening import PREFIX

from .answer import Handlers
from .callback import Callback, CallbackQueue
from .change_hub import ChangeHub, ChangeStream
from .listening import read_filter
from .log import ServerWarnings, client_logger
from .settings import Notices

if TYPE_CHECKING:
    from .page_visit import Completions

PROGRESS_CHARACTERS: Final = 4096
"""Of the message of a progress report: many may wait."""
URI_CHARACTERS: Final = 8192
"""Of a URI in an announced change: many may wait."""
OPENING: Final = frozenset({"server/discover", "initialize"})
"""Only clients send these."""
ECHO: Final = (
    "the server sends back what it receives: is it an MCP server, and is no terminal in between (ssh -tt)?"
)
CHANGES: Final = {
    "notifications/tools/list_changed": Change("tools"),
    "notifications/prompts/list_changed": Change("prompts"),
    "notifications/resources/list_changed": Change("resources"),
}


class _ProgressParams(Progress, rename="camel"):
    progress_token: int | str = field(name="progressToken", default="")


class _Uri(Struct):
    uri: str


class _Subscription(Struct):
    subscription: int | str | None = field(name=f"{PREFIX}subscriptionId", default=None)


class _WithSubscription(Struct):
    meta: _Subscription = field(name="_meta", default_factory=_Subscription)


class _Acknowledged(Struct):
    notifications: dict[str, Any] = {}


class _Cancelled(Struct, rename="camel"):
    request_id: int | str


class Tasks(Protocol):
    """Starts work that ends with the client, and ends requests."""

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]: ...

    def fail(self, request_id: str, error: ClientError) -> None: ...


class Incoming:
    """Passes messages to callbacks and handlers, and answers to `reply`."""

    def __init__(
        self,
        handlers: Handlers,
        notices: Notices,
        queue: CallbackQueue,
        tasks: Tasks,
        reply: Callable[[Outcome], Coroutine[Any, Any, None]],
        limits: ClientLimits,
        hub: ChangeHub,
    ) -> None:
        self._handlers = handlers
        self._notices = notices
        self._queue = queue
        self._tasks = tasks
        self._reply = reply
        self._most_questions = limits.questions
        self._most_bytes = limits.message_bytes
        self._hub = hub
        self.warnings = ServerWarnings()
        self._questions: dict[RequestId, asyncio.Task[None]] = {}
        """Those that are answered, until their replies are sent."""
        self._question_bytes = 0
        self._replies = 0
        self.progress: dict[RequestId, Callback] = {}
        """Callbacks of the calls in progress, by their progress token."""
        self.streams: dict[RequestId, ChangeStream] | None = None
        """Open listen streams by their id; None in revisions without them."""
        self.completions: Completions | None = None
        """Set when the user was first asked to visit a page."""

    def notify(self, message: Envelope) -> None:
        """Take a notification. Those without a callback, and invalid ones, are ignored."""
        method: Any = message.method
        try:
            if method == "notifications/progress":
                self._on_progress(message.params)
            elif method in CHANGES or method == "notifications/resources/updated":
                self._on_change(method, message.params)
            elif method == "notifications/message" and self._notices.on_log is not None:
                self._on_log(self._notices.on_log, message.params)
            elif method == "notifications/cancelled":
                self._on_cancelled(message.params)
            elif method == "notifications/subscriptions/acknowledged":
                self._on_acknowledged(message.params)
            elif method == "notifications/elicitation/complete" and self.completions is not None:
                self.completions.take(message.params)
        except (msgspec.DecodeError, RecursionError) as error:
            self.warnings.add("the server sent an invalid %s: %s", method, error)

    def _on_log(self, callback: Callback, params: Raw) -> None:
        message = msgspec.json.decode(params, type=LogMessage)
        # A server that cannot set a level sends everything.
        if message.is_at_least(self._notices.log_level):
            self._queue.post(callback, message, len(memoryview(params)))

    def _on_progress(self, params: Raw) -> None:
        if self.progress:
            notice = msgspec.json.decode(params, type=_ProgressParams)
            callback = self.progress.get(notice.progress_token)
            if callback is not None:
                text = notice.message and notice.message[:PROGRESS_CHARACTERS]
                self._queue.post(callback, Progress(notice.progress, notice.total, text))

    def _on_change(self, method: str, params: Raw) -> None:
        change = CHANGES.get(method)
        if change is None:
            change = Change("resource", msgspec.json.decode(params, type=_Uri).uri)
        if len(change.uri or "") > URI_CHARACTERS:
            self.warnings.add(
                "the server announced a change of a URI of %d characters", len(change.uri or "")
            )
            return
        if self.streams is None:
            self._hub.observe(change)
            self._hub.publish(change)
            self.post_change(change)
        elif (stream := self._stream_of(params)) is not None:
            self._hub.observe(change)
            stream.post(change)

    def _stream_of(self, params: Raw) -> ChangeStream | None:
        """The stream that a notification belongs to: one connection may carry several
        (basic/patterns/subscriptions)."""
        meta = msgspec.json.decode(params, type=_WithSubscription).meta
        return None if meta.subscription is None else (self.streams or {}).get(meta.subscription)

    def post_change(self, change: Change) -> None:
        if self._notices.on_change is not None:
            self._queue.post(self._notices.on_change, change)

    def add_stream(self, request_id: RequestId, stream: ChangeStream) -> None:
        if self.streams is not None:
            self.streams[request_id] = stream

    def remove_stream(self, request_id: RequestId) -> None:
        (self.streams or {}).pop(request_id, None)

    def _on_acknowledged(self, params: Raw) -> None:
        stream = self._stream_of(params)
        if stream is not None:
            stream.acknowledge(*read_filter(msgspec.json.decode(params, type=_Acknowledged).notifications))

    def _on_cancelled(self, params: Raw) -> None:
        request_id = msgspec.json.decode(params, type=_Cancelled).request_id
        task = self._questions.get(request_id)
        if task is not None:
            task.cancel()
        elif isinstance(request_id, str) and request_id in (self.streams or {}):
            # A result should follow, but not all servers send one (basic/patterns/cancellation).
            self._tasks.fail(request_id, ConnectionFailed("the server ended the stream"))

    def ask(self, message: Envelope) -> None:
        """Take a question; its answer is sent when the handler returns."""
        request_id: Any = message.id
        # A copy, because the original refers to the whole message.
        params = Raw(b"{}") if isinstance(message.params, UnsetType) else message.params.copy()
        size = len(memoryview(params))
        if message.method in OPENING:
            self._tasks.fail(request_id, InvalidAnswer(ECHO))
        elif message.method == "ping":
            self._reply_soon(Reply(request_id, {}))
        elif self._is_busy(request_id, size):
            busy = RpcError(INVALID_REQUEST, f"too many questions at once: limit {self._most_questions}")
            self._reply_soon(error_reply(busy, request_id))
        else:
            self._question_bytes += size
            task = self._tasks.spawn(self._answer(request_id, message.method, params))
            self._questions[request_id] = task
            task.add_done_callback(lambda _: self._forget(request_id, size))

    def _is_busy(self, request_id: RequestId, size: int) -> bool:
        return (
            len(self._questions) >= self._most_questions
            or request_id in self._questions
            or self._question_bytes + size > self._most_bytes
        )

    def _forget(self, request_id: RequestId, size: int) -> None:
        """Only now, not when the handler returned: replies that the server does not read take memory."""
        self._question_bytes -= size
        self._questions.pop(request_id, None)

    def _reply_soon(self, outcome: Outcome) -> None:
        """Reply, unless the server does not read the replies: those that wait would take ever more memory."""
        if self._replies >= self._most_questions:
            return
        self._replies += 1
        self._tasks.spawn(self._reply(outcome)).add_done_callback(self._on_replied)

    def _on_replied(self, task: asyncio.Task[None]) -> None:
        self._replies -= 1

    async def _answer(self, request_id: RequestId, method: Any, params: Raw) -> None:
        try:
            outcome: Outcome = Reply(request_id, await self._handlers.answer(method, params))
        except RpcError as error:
            outcome = error_reply(error, request_id)
        except Exception:
            client_logger().exception("the handler for %s failed", method)
            outcome = error_reply(RpcError(INTERNAL_ERROR, "the client's handler failed"), request_id)
        await self._reply(outcome)

    async def visit_pages(self, error: ServerError, timeout: float | None) -> bool:
        """Ask the user to visit the pages of an error. Returns whether the server has confirmed that."""
        from .page_visit import Completions

        self.completions = self.completions or Completions()
        return await self.completions.visit(error, self._handlers, timeout, self._most_questions)

    async def answer_all(self, requests: Mapping[str, Any]) -> dict[str, Any]:
        """The answers to the questions of a result, by their keys. A handler's exception is the caller's.

        Raises:
            InvalidAnswer: too many questions.
        """
        if len(requests) > self._most_questions:
            raise InvalidAnswer(f"the server asks {len(requests)} questions: limit {self._most_questions}")
        return {
            key: await self._handlers.answer(request.method, request.params)
            for key, request in requests.items()
        }
