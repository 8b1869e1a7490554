"""One request while it is served: its client, where its messages go, and how it may end early.

A request ends once. Messages that its handler sends after that are discarded.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct, field

from assay.model.effect import Effect
from assay.model.error import AskError, InsufficientScope
from assay.model.jsonrpc import Envelope, Notification, RequestId
from assay.model.result import Cache
from assay.model.send_time import SENT_AT, TIMED
from assay.model.visible import visible_record
from assay.protocol.codec import decode_params, encode
from assay.protocol.coroutine import is_closing
from assay.protocol.middleware import Ending
from assay.protocol.scope import Scope, Send
from assay.protocol.session import Peer, Session
from assay.revisions.revision import Opening, Revision
from assay.server.dispatch.services import Services

from .round_trip import RoundTrips, bind, find_input_needed
from .stored_state import KeptState

T = TypeVar("T")
logger = logging.getLogger("assay")
logger.addFilter(visible_record)


class EndedEarly(Exception):
    """The request was ended from outside its handler."""

    answered = True
    """Whether the client gets an answer. Middleware that cannot import this class reads the attribute."""

    def copy(self) -> EndedEarly:
        """The exception to raise. The traceback of the call's own would refer to the call."""
        return type(self)(*self.args)


class Cancelled(EndedEarly):
    """The client cancelled the request, so no answer is sent."""

    answered = False


class Interrupted(EndedEarly):
    """The server ended the request, for example because it stops or has ended the session."""


class TimedOut(EndedEarly):
    """The handler exceeded the idle timeout."""


class _Meta(Struct, rename="camel"):
    progress_token: int | str | None = None
    timed: Any = field(name=TIMED, default=None)


class _ParamsWithMeta(Struct):
    meta: Raw = field(name="_meta", default=Raw(b"{}"))


_decode_params = msgspec.json.Decoder(_ParamsWithMeta).decode
_decode_meta = msgspec.json.Decoder(_Meta).decode


class Call:
    # Defaults on the class: most calls end before any of these is set.
    ended: EndedEarly | None = None
    finished = False
    cache: Cache | None = None
    """How the result may be cached, if the component itself says so."""
    private = False
    """Whether the result depends on the caller, so that shared caches must not store it."""
    has_asked = False
    """Whether the handler has asked the client while it ran, so that the result depends on the answer."""
    required_scopes: tuple[str, ...] = ()
    """Scopes that the call has needed so far."""
    retry_binding: tuple[str, str, Any] | None = None
    """Method, target and arguments that round trips are bound to; None where handlers cannot use them."""
    round_trips: RoundTrips | None = None
    progress: float | None = None
    """The last progress that was reported."""
    effects: Sequence[Effect] = ()
    """Effects that the handler has reported so far."""
    task_id: str | None = None
    asks: Callable[[Any, Any], Awaitable[Any]] | None = None
    """Asks the client a question, if not in the way of the revision: a task does."""
    blocking_waits: Collection[Future[Any]] = ()
    """Futures that the handler's threads block on; cancelled when the request ends early."""
    middleware_call: Any = None
    """The call as middleware sees it, once a middleware that is a function has begun."""
    kept_state: KeptState | None = None
    """What the handler has read of a principal's state, to be stored if it has changed."""
    is_waiting = False
    """Whether the handler has not started yet, because others occupy the limits or threads."""
    _task: asyncio.Task[Any] | None = None
    _departure: asyncio.Task[None] | None = None
    _is_supervised_outside = False
    """Whether `supervise_all` covers the handler and what is around it."""
    _is_acknowledged = False
    _timer: asyncio.TimerHandle | None = None
    _deadline = 0.0
    _paused = 0

    def __init__(
        self, services: Services, message: Envelope, peer: Peer, scope: Scope, send: Send | None
    ) -> None:
        self.services = services
        self.id: RequestId = message.id  # type: ignore[assignment]
        self.params = message.params
        self.decoded_params = message.decoded_params
        self.peer = peer
        self.scope = scope
        self.session: Session | None = scope.session
        self.send = send

    def effect_log(self) -> list[Effect]:
        """The call's effects, as one list that all threads of its handler append to."""
        effects: list[Effect] = self.__dict__.setdefault("effects", [])
        return effects

    def require(self, scopes: Sequence[str]) -> None:
        """Check that the caller has been granted all of these scopes.

        Raises:
            InsufficientScope: one is missing. The error names all of them, and all that were required before.
        """
        if not scopes:
            return
        self.private = True
        required = tuple(dict.fromkeys((*self.required_scopes, *scopes)))
        granted = self.scope.scopes
        if granted is not None and not granted.issuperset(scopes):
            raise InsufficientScope(required)
        self.required_scopes = required  # only on success: a handler may catch the error and do without

    @property
    def cache_hint(self) -> Cache:
        """How the result may be cached: one that depends on the caller, only for that caller."""
        cache = self.cache or self.services.cache
        return msgspec.structs.replace(cache, cache_scope="private") if self.private else cache

    def declaration(self, revision: Revision) -> dict[str, Any]:
        """The server's capabilities, as this client gets them."""
        # Changes are sent in sessions or on listen streams: a client that can have neither is promised none.
        channel = self.session if revision.opening is Opening.HANDSHAKE else self.send
        declared = self.services.features.declaration(revision, in_session=channel is not None)
        return self.services.extensions.declare(declared, revision, self)

    def open_round_trips(self) -> RoundTrips:
        """The call's round trips, created at the first question: most calls ask none.

        Raises:
            AskError: the request cannot be answered with a question.
        """
        if self.round_trips is None:
            if self.retry_binding is None:
                raise AskError("the client cannot be asked here: only tools, prompts and resources can")
            binding = bind(*self.retry_binding, self.scope.principal)
            lifetime = self.services.limits.request_state
            self.round_trips = RoundTrips(binding, self.services.sealer, lifetime, self.effect_log())
        return self.round_trips

    @property
    def raw_meta(self) -> Raw:
        return decode_params(self.params, _decode_params).meta

    @property
    def progress_token(self) -> int | str | None:
        return decode_params(self.raw_meta, _decode_meta).progress_token

    async def notify(self, method: str, params: Any) -> None:
        """Send a notification that belongs to this request; discarded once the request has ended."""
        if self.send is not None and not self.finished and self.ended is None:
            self.keep_alive()
            await self.send(encode(Notification(method, params)))

    async def report_progress(self, progress: float, total: float | None, message: str | None) -> None:
        meta = decode_params(self.raw_meta, _decode_meta)
        token = meta.progress_token
        if token is None or (self.progress is not None and progress <= self.progress):
            return self.keep_alive()
        self.progress = progress
        params: dict[str, Any] = {"progressToken": token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        if meta.timed is True:
            params["_meta"] = {SENT_AT: time.monotonic_ns()}
        return await self.notify("notifications/progress", params)

    async def start_task(self) -> bool:
        return False

    async def supervise(self, work: Awaitable[T]) -> T:
        """Await work that suspends, under cancellation and the idle timeout.

        Raises:
            EndedEarly: it was ended from outside.
        """
        if self._task is None:
            self._begin_supervision()
        try:
            value = await work
        except BaseException as error:
            # After a cancellation, an error of the handler is as irrelevant as its result would be.
            if self.ended is None or is_closing(error):
                raise
            self._acknowledge_cancel()
            raise self.ended.copy() from None
        finally:
            if not self._is_supervised_outside:
                self._end_supervision()
        if self.ended is not None:
            # The handler caught the cancellation and returned: discard its result.
            self._acknowledge_cancel()
            raise self.ended.copy()
        return value

    async def supervise_all(self, work: Awaitable[T]) -> T:
        """The same for middleware and the handler that it calls, whose own supervision is part of this one.

        How a call ends early is up to the handler, if it has begun: a tool answers a timeout with a result.

        Raises:
            EndedEarly: it was ended from outside.
        """
        self._is_supervised_outside = True
        if self._task is None:
            self._begin_supervision()
        elif (task := asyncio.current_task()) is not None:
            # The handler may run in a task of its middleware. A cancellation begins at this one.
            self._task = task
            self.services.running.add(self, task)
        try:
            value = await work
        except BaseException as error:
            if self.ended is None or is_closing(error) or isinstance(error, Exception):
                raise
            self._acknowledge_cancel()
            raise self.ended.copy() from None
        finally:
            self._end_supervision()
        if self.ended is not None:
            is_answered = self._is_acknowledged and self.ended.answered
            self._acknowledge_cancel()
            if not is_answered:
                raise self.ended.copy()
        return value

    def _begin_supervision(self) -> None:
        self._task = asyncio.current_task()
        assert self._task is not None
        self.services.running.add(self, self._task)
        session = self.session
        if session is not None:
            session.in_flight[self.id] = self
        self._start_timer()
        self._departure = self._watch_departure()

    def _end_supervision(self) -> None:
        self._task = None
        self.services.running.remove(self)
        self._stop_timer()
        if self._departure is not None:
            # The exception of a cancelled task refers to this object: keep no reference to the task.
            self._departure.cancel()
            self._departure = None
        if self.session is not None:
            self.session.in_flight.pop(self.id, None)

    def ending_of(self, error: BaseException) -> Ending:
        """Classify an exception that ends the request; call this where it was caught.

        A handler may let any exception out. A cancellation that neither this call nor the owner of the task
        requested is a failure: the handler has awaited something that was cancelled.
        """
        if isinstance(error, Exception):
            return Ending.FAILED if getattr(error, "answered", True) else Ending.CANCELLED
        if find_input_needed(error) is not None:
            return Ending.QUESTION
        return Ending.CANCELLED if is_closing(error) or _is_owners(error) else Ending.FAILED

    def _watch_departure(self) -> asyncio.Task[None] | None:
        scope = self.scope
        if scope.departure is None or not (scope.disconnect_cancels or self.is_waiting):
            return None
        return asyncio.get_running_loop().create_task(self._depart(scope.departure))

    async def _depart(self, departure: Callable[[], Awaitable[None]]) -> None:
        await departure()
        # Without a session, an answer can only be sent on this connection: a handler that has not started yet
        # need not run for it.
        if self.scope.disconnect_cancels or self.is_waiting:
            self.cancel("the client disconnected")

    def stop_waiting(self) -> None:
        self.is_waiting = False

    def cancel(self, reason: str | None) -> None:
        logger.info("request %r cancelled: %s", self.id, reason or "no reason given")
        self._end(Cancelled(reason or "cancelled"))

    def interrupt(self, reason: str) -> None:
        """End the request on the server's initiative: the client gets the reason as an error."""
        logger.info("request %r interrupted: %s", self.id, reason)
        self._end(Interrupted(reason))

    def _end(self, ending: EndedEarly) -> None:
        if self._task is not None and self.ended is None:
            self.ended = ending
            self._task.cancel()
            for wait in list(self.blocking_waits):
                wait.cancel()

    def _acknowledge_cancel(self) -> None:
        # Without this, asyncio would mistake our cancellation for one by the task's owner.
        task = asyncio.current_task()
        if task is not None and task is (self._task or task) and not self._is_acknowledged:
            self._is_acknowledged = True
            task.uncancel()

    def keep_alive(self) -> None:
        """Restart the idle timeout."""
        timeout = self.services.limits.idle_timeout
        if timeout is not None and self._timer is not None:
            self._deadline = asyncio.get_running_loop().time() + timeout

    def pause(self) -> None:
        """Suspend the idle timeout, for example while a user answers a question."""
        self._paused += 1

    def resume(self) -> None:
        self._paused -= 1
        self.keep_alive()

    def _start_timer(self) -> None:
        timeout = self.services.limits.idle_timeout
        if timeout is not None:
            loop = asyncio.get_running_loop()
            self._deadline = loop.time() + timeout
            self._timer = loop.call_at(self._deadline, self._check_idle)

    def _check_idle(self) -> None:
        # Activity moves the deadline, not the timer: rescheduling the timer each time would cost more.
        loop = asyncio.get_running_loop()
        if self._paused:
            self.keep_alive()
        if self._deadline > loop.time():
            self._timer = loop.call_at(self._deadline, self._check_idle)
        else:
            self._end(TimedOut(f"no activity for {self.services.limits.idle_timeout:g} s"))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _is_owners(error: BaseException) -> bool:
    """Whether an exception carries out a cancellation of the current task by its owner. `Call.supervise` has
    taken back those that a call requests itself."""
    if not isinstance(error, asyncio.CancelledError | BaseExceptionGroup):
        return False
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


DirectCall = Callable[[], AbstractAsyncContextManager[Call]]
"""Creates the call for a component that is used from code instead of by a client, and ends it."""


class CallContext:
    """Base of `Context`. A handler's parameter annotated with a subclass gets an instance for its call."""

    __slots__ = ()

    def __init__(self, call: Call) -> None:
        raise NotImplementedError
