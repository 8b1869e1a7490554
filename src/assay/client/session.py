"""The conversation with one server over one link: agreement, requests, and what the server sends.

A session lives as long as its link. `Client` replaces it if the server forgets it or dies.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from assay.model.client_error import (
    ClientClosed,
    ClientError,
    InvalidAnswer,
    ServerError,
    Timeout,
    visible,
)
from assay.model.definition import ToolDefinition
from assay.model.error import RpcError
from assay.model.jsonrpc import Envelope, Notification, Outcome, Request
from assay.protocol.correlation import Correlation
from assay.protocol.opening import (
    ROOTS_CHANGED,
    Agreement,
    declaration,
    declares_extension,
    join_declarations,
)
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Asking, Opening, Revision
from assay.transport.client.port import Link

from .callback import Callback, CallbackQueue
from .change_hub import ChangeStream
from .deadline import Deadlines
from .incoming import Incoming
from .input_required import TASKS, InputRequired, Question, read_questions
from .listening import CallbackStream, Interest, keep_announcing, listen
from .log import client_logger
from .negotiation import negotiate
from .received_error import received_error
from .settings import CallOptions, Notices, Settings

PLAIN: Final = CallOptions()
STREAM_WAIT: Final = 1.0
"""Seconds to wait for a stream: a server may begin its response with the first message."""


class Session:
    """Implements `Receiver` for its link, and `Tasks` for what runs beside calls."""

    def __init__(
        self,
        make_link: Callable[[], Link],
        settings: Settings,
        on_lost: Callable[[Session], None] | None = None,
    ) -> None:
        self._make_link = make_link
        self._on_lost = on_lost
        self._settings = settings
        self.limits = settings.limits
        self.hub = settings.hub
        self.subscribed: Counter[str] = Counter()
        self.ended = asyncio.Event()
        self._following: asyncio.Event | None = None
        self.link = make_link()
        self._tasks: set[asyncio.Task[None]] = set()
        self._queue = CallbackQueue(settings.limits.notices)
        self._incoming = Incoming(
            settings.handlers,
            settings.notices,
            self._queue,
            self,
            self._answer,
            settings.limits,
            settings.hub,
        )
        self._sent = Correlation(received_error, ClientClosed)
        self._deadlines = Deadlines()
        self._meta: Raw | None = None
        self._declares_tasks = False
        self.agreement: Agreement | None = None
        self.offered = HANDSHAKE[-1]
        """The revision of the last attempt to agree, for answers before the agreement."""
        self.is_closed = False
        self.is_lost = False
        self._why_lost: Callable[[], ClientError] = ClientClosed
        self._idle: asyncio.Event | None = None
        self._unmatched = ""
        self._create_future = asyncio.get_running_loop().create_future

    # Opening.

    async def open(self, timeout: float) -> None:
        """Connect, and agree on a revision.

        Raises:
            ClientError: the server cannot be reached, or does not agree to a revision.
        """
        try:
            async with asyncio.timeout(timeout):
                await self.link.open(self)
                self.agreement = await negotiate(self, self._settings)
                await self._begin(self.agreement)
        except TimeoutError as error:
            await self.close()
            if isinstance(error, ClientError):
                raise
            raise Timeout(f"the server did not open a session in {timeout:g} s{self._context()}") from None
        except BaseException:
            await self.close()
            raise

    async def switch(self, link: Link) -> None:
        """Use another link, which takes over the connections of this one."""
        self.link = link
        await link.open(self)

    async def renew(self) -> None:
        """Connect again: the server ended the connection."""
        await self.link.close()
        self._sent = Correlation(received_error, ClientClosed)
        self.is_lost = False
        self.ended.clear()
        self.link = self._make_link()
        await self.link.open(self)

    async def _begin(self, agreement: Agreement) -> None:
        revision = agreement.revision
        self._settings.cache.begin(revision.cacheable)
        if revision.opening is Opening.PER_REQUEST:
            self._incoming.streams = {}
            declared = declaration(self._settings.identity, revision)
            self._declares_tasks = declares_extension(declared, TASKS)
            self._meta = Raw(msgspec.json.encode(declared))
            if self._settings.notices.on_change is not None:
                self.spawn(keep_announcing(self, CallbackStream(self._incoming.post_change)))
            return
        await self.link.send(Notification("notifications/initialized"), revision)
        level = self._settings.identity.log_level
        if level is not None and agreement.capabilities.get("logging") is not None:
            try:
                await self.exchange("logging/setLevel", {"level": level}, revision)
            except ServerError as error:
                client_logger().warning("the server refuses to set the log level: %s", error)
        if self._settings.identity.capabilities or self._settings.notices != Notices():
            await self.follow()

    # Changes.

    @property
    def capabilities(self) -> dict[str, Any]:
        return self.agreed.capabilities

    @property
    def is_usable(self) -> bool:
        return not self.is_lost and not self.is_closed

    async def follow(self) -> None:
        """Receive what the server sends outside of answers. Some servers drop what they send before the
        stream for it is open, such as the questions of the first call, so it is waited for."""
        if self._following is None:
            opened = self._following = asyncio.Event()
            stream = self.spawn(self.link.follow(self.agreed.revision, opened.set))
            stream.add_done_callback(lambda _: opened.set())
        with suppress(TimeoutError):
            async with asyncio.timeout(STREAM_WAIT):
                await self._following.wait()

    async def stream(self, params: dict[str, Any], revision: Revision, stream: ChangeStream) -> Raw:
        return await self.exchange("subscriptions/listen", self._with_meta(params), revision, stream=stream)

    async def listen(self, interest: Interest, stream: ChangeStream) -> None:
        await listen(self, interest, stream)

    # Requests.

    @property
    def agreed(self) -> Agreement:
        if self.agreement is None:
            raise ClientClosed
        return self.agreement

    async def request(
        self, method: str, params: dict[str, Any] | None = None, options: CallOptions = PLAIN
    ) -> Raw:
        """Send a request and return its result; questions of the server are answered on the way.

        Raises:
            ClientError: no answer, or an error.
        """
        revision = self.agreed.revision
        if revision.asking is not Asking.BY_RETRY:
            return await self._call(method, params, options, revision)
        sent = {} if params is None else params
        for _ in range(self.limits.rounds + 1):
            raw = await self._call(method, sent, options, revision)
            asking = read_questions(raw, method, sent, self._declares_tasks)
            if asking is None:
                return raw
            self._settings.cache.refuse_pending()
            sent = {**(params or {}), **await self._retry_params(asking)}
        raise InvalidAnswer(f"the server asked again after {self.limits.rounds} answers to {method}")

    async def answer_questions(self, questions: Mapping[str, Question]) -> dict[str, Any]:
        """The answers of the user's handlers, by the keys of the questions."""
        try:
            return await self._incoming.answer_all(questions)
        except ClientError:
            raise
        except RpcError as error:
            raise InvalidAnswer(f"the server's question cannot be answered: {error.message}") from None

    async def _retry_params(self, asking: InputRequired) -> dict[str, Any]:
        state = asking.request_state
        params: dict[str, Any] = {} if state is UNSET else {"requestState": state}
        if asking.input_requests:
            params["inputResponses"] = await self.answer_questions(asking.input_requests)
        return params

    async def _call(
        self, method: str, params: dict[str, Any] | None, options: CallOptions, revision: Revision
    ) -> Raw:
        timeout = options.timeout
        if options.progress is None:
            params = self._with_meta(params)
        if timeout is None:
            return await self.exchange(method, params, revision, options.progress)
        deadline = self._deadlines.start(timeout)
        try:
            return await self.exchange(method, params, revision, options.progress)
        except asyncio.CancelledError:
            if deadline.is_cause():
                raise Timeout(f"no answer to {method} in {timeout:g} s{self._context()}") from None
            raise
        finally:
            self._deadlines.end(deadline)

    def _with_meta(self, params: dict[str, Any] | None) -> dict[str, Any] | None:
        if self._meta is None:
            return params
        if params is None or "_meta" not in params:
            return {"_meta": self._meta, **(params or {})}
        return {**params, "_meta": join_declarations(params["_meta"], msgspec.json.decode(self._meta))}

    async def exchange(
        self,
        method: str,
        params: dict[str, Any] | None,
        revision: Revision,
        progress: Callback | None = None,
        stream: ChangeStream | None = None,
    ) -> Raw:
        answer: asyncio.Future[Raw] = self._create_future()
        request_id = self._sent.ask(answer)
        if progress is not None:
            params = self._with_progress(params, request_id, progress)
        elif stream is not None:
            self._incoming.add_stream(request_id, stream)
        try:
            await self.link.send(Request(request_id, method, UNSET if params is None else params), revision)
            result = await answer
            if progress is not None:
                await self._queue.flush()
            return result
        except asyncio.CancelledError:
            self._withdraw(request_id, method, revision)
            raise
        finally:
            self._sent.forget(request_id)
            if self._idle is not None and not len(self._sent):
                self._idle.set()
            if progress is not None:
                self._incoming.progress.pop(request_id, None)
            elif stream is not None:
                self._incoming.remove_stream(request_id)
            if answer.done() and not answer.cancelled():
                answer.exception()  # an error of the link may have come first

    def _with_progress(
        self, params: dict[str, Any] | None, request_id: str, progress: Callback
    ) -> dict[str, Any]:
        self._incoming.progress[request_id] = progress
        meta = {} if self._meta is None else msgspec.json.decode(self._meta)
        own = {} if params is None else params.get("_meta", {})
        return {**(params or {}), "_meta": {**own, **meta, "progressToken": request_id}}

    def _withdraw(self, request_id: str, method: str, revision: Revision) -> None:
        """Cancel a request for the server; `initialize` cannot be cancelled."""
        if method == "initialize" or self.is_lost:
            return
        params = {"requestId": request_id, "reason": "the client no longer waits"}
        rest = self.link.cancel(Notification("notifications/cancelled", params), revision)
        if rest is not None:
            self.spawn(rest)

    async def visit_pages(self, error: ServerError, timeout: float | None) -> bool:
        """Ask the user to visit the pages of an error. Returns whether the server has confirmed that, which
        servers of revisions without these errors cannot."""
        if self.agreed.revision.asking is Asking.BY_RETRY:
            return False
        return await self._incoming.visit_pages(error, timeout)

    async def announce_roots(self) -> None:
        """Notify the server of changed roots, in revisions where it cannot just ask again."""
        if ROOTS_CHANGED in self.agreed.revision.notifications:
            await self.link.send(Notification(ROOTS_CHANGED), self.agreed.revision)

    def learn(self, tools: Iterable[ToolDefinition]) -> None:
        self.link.learn(tools)

    async def _answer(self, outcome: Outcome) -> None:
        # A server may send a ping before it has answered `initialize` (basic/lifecycle#initialization).
        await self.link.send(outcome, self.agreement.revision if self.agreement else self.offered)

    # What the link receives.

    def receive(self, message: Envelope) -> None:
        if message.method is UNSET:
            if not self._sent.settle(message):
                self._note_unmatched(message)
        elif message.id is UNSET:
            self._incoming.notify(message)
        elif self.agreement is not None and self.agreement.revision.asking is Asking.BY_RETRY:
            self._incoming.warnings.add(
                "the server sent a request, which its revision does not allow: %s", message.method
            )
        else:
            self._incoming.ask(message)

    def _note_unmatched(self, message: Envelope) -> None:
        if message.error is not UNSET:
            self._incoming.warnings.add(
                "the server sent an error without a request: %s", received_error(message.error)
            )
        self._unmatched = f"\n  the server answered an unknown id: {visible(repr(message.id)[:100])}"

    def _context(self) -> str:
        """What may explain that an answer is missing."""
        return self.link.context() + self._unmatched

    def fail(self, request_id: str, error: ClientError) -> None:
        self._sent.fail(request_id, error)

    @property
    def reason(self) -> ClientError:
        """Why the session was lost."""
        return self._why_lost()

    def lost(self, reason: Callable[[], ClientError]) -> None:
        if self.is_lost:
            return
        self.is_lost, self._why_lost = True, reason
        self.ended.set()
        self._sent.close(reason)
        if self._on_lost is not None and not self.is_closed:
            self._on_lost(self)

    # Tasks beside the calls.

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            level = client_logger().debug if isinstance(error, ClientError) else client_logger().error
            level("a task of the client failed: %s", error)

    async def retire(self) -> None:
        """Close when the calls in progress have ended: another session serves the further ones."""
        self._idle = asyncio.Event()
        if len(self._sent):
            await self._idle.wait()
        await self.close()

    async def close(self) -> None:
        """End everything, in bounded time. Idempotent."""
        self.is_closed = True
        self.ended.set()
        self._sent.close(ClientClosed)
        self._deadlines.close()
        current = asyncio.current_task()
        tasks = [task for task in self._tasks if task is not current]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self.limits.close_timeout)
        await self._queue.close()
        await self.link.close()
