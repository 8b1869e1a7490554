"""One request while it is served: who asked, where its messages go, and how it may end early.

A request ends once. Whatever its handler tries to send after that goes nowhere.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Raw, Struct, field

from assay.model.effect import Effect
from assay.model.error import InsufficientScope
from assay.model.jsonrpc import Envelope, Notification, RequestId
from assay.model.result import Cache
from assay.protocol.codec import decode_params, encode
from assay.protocol.scope import Scope, Send
from assay.protocol.session import Peer, Session

if TYPE_CHECKING:
    from .round_trip import RoundTrips
    from .server import Server

T = TypeVar("T")
logger = logging.getLogger("assay")


class EndedEarly(Exception):
    """The request was ended from outside its handler."""

    answered = True
    """Whether the client hears of it; layers that cannot import this ask for that."""


class Cancelled(EndedEarly):
    """The client no longer wants the answer: none is sent."""

    answered = False


class TimedOut(EndedEarly):
    """The handler was silent for too long."""


class _Meta(Struct, rename="camel"):
    progress_token: int | str | None = None


class _ParamsWithMeta(Struct):
    meta: Raw = field(name="_meta", default=Raw(b"{}"))


_decode_params = msgspec.json.Decoder(_ParamsWithMeta).decode
_decode_meta = msgspec.json.Decoder(_Meta).decode


class Call:
    # Defaults on the class: most calls are over before any of these is needed.
    ended: EndedEarly | None = None
    over = False
    cache: Cache | None = None
    """How its result may be cached, where the item itself says so."""
    private = False
    """Whether its result depends on who asks, and is for nobody else to reuse."""
    required_scopes: tuple[str, ...] = ()
    """Scopes that it has been found to take so far."""
    retry_binding: tuple[str, str, Any] | None = None
    """Method, target and arguments that questions by retry are bound to; none where there are none."""
    round_trips: RoundTrips | None = None
    """Questions to the client, where those are asked by retry."""
    effects: Sequence[Effect] = ()
    """What its handler says that it did to the world, so far."""
    waits: Collection[Future[Any]] = ()
    """What the handler's thread is waiting for; a request that ends early lets go of it."""
    _task: asyncio.Task[Any] | None = None
    _timer: asyncio.TimerHandle | None = None
    _deadline = 0.0
    _paused = 0

    def __init__(
        self, server: Server, message: Envelope, peer: Peer, scope: Scope, send: Send | None
    ) -> None:
        self.server = server
        self.id: RequestId = message.id  # type: ignore[assignment]
        self.params = message.params
        self.decoded_params = message.decoded_params
        self.peer = peer
        self.scope = scope
        self.session: Session | None = scope.session
        self.send = send

    def effect_log(self) -> list[Effect]:
        """Its effects, to be added to: one list for all threads of its handler."""
        effects: list[Effect] = self.__dict__.setdefault("effects", [])
        return effects

    def require(self, scopes: Sequence[str]) -> None:
        """Go on only if the caller was granted all of these.

        Raises:
            InsufficientScope: it was not; the error names all of them, and all that were required before.
        """
        if not scopes:
            return
        self.private = True
        required = tuple(dict.fromkeys((*self.required_scopes, *scopes)))
        granted = self.scope.scopes
        if granted is not None and not granted.issuperset(scopes):
            raise InsufficientScope(required)
        self.required_scopes = required  # not what was refused: whoever catches that goes on without it

    @property
    def raw_meta(self) -> Raw:
        return decode_params(self.params, _decode_params).meta

    @property
    def progress_token(self) -> int | str | None:
        return decode_params(self.raw_meta, _decode_meta).progress_token

    async def notify(self, method: str, params: Any) -> None:
        """Send a notification that belongs to this request; nothing once the request is over."""
        if self.send is not None and not self.over and self.ended is None:
            self.keep_alive()
            await self.send(encode(Notification(method, params)))

    async def supervise(self, work: Awaitable[T]) -> T:
        """Await work that may last: it can be cancelled, and may not be idle for too long.

        Raises:
            EndedEarly: it was ended from outside.
        """
        self._task = asyncio.current_task()
        session = self.session
        if session is not None:
            session.in_flight[self.id] = self
        self._arm()
        watching = self._watch_departure()
        try:
            value = await work
        except (asyncio.CancelledError, Exception):
            # Whatever a handler makes of its cancellation, even another error, is not wanted any more.
            if self.ended is None:
                raise
            self._acknowledge_cancel()
            raise self.ended from None
        finally:
            self._task = None
            self._disarm()
            if watching is not None:
                watching.cancel()
            if session is not None:
                session.in_flight.pop(self.id, None)
        if self.ended is not None:
            # The handler caught the cancellation and went on to return: its answer is not wanted.
            self._acknowledge_cancel()
            raise self.ended
        return value

    def _watch_departure(self) -> asyncio.Task[None] | None:
        departure = self.scope.departure
        return None if departure is None else asyncio.get_running_loop().create_task(self._depart(departure))

    async def _depart(self, departure: Callable[[], Awaitable[None]]) -> None:
        await departure()
        self.cancel("the client hung up")

    def cancel(self, reason: str | None) -> None:
        logger.info("request %r cancelled: %s", self.id, reason or "no reason given")
        self._end(Cancelled(reason or "cancelled"))

    def _end(self, ending: EndedEarly) -> None:
        if self._task is not None and self.ended is None:
            self.ended = ending
            self._task.cancel()
            for waited in list(self.waits):
                waited.cancel()

    def _acknowledge_cancel(self) -> None:
        # Without this, asyncio would take our own cancel for one from the task's owner.
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()

    def keep_alive(self) -> None:
        """Start the idle time-out anew."""
        timeout = self.server.limits.idle_timeout
        if timeout is not None and self._timer is not None:
            self._deadline = asyncio.get_running_loop().time() + timeout

    def pause(self) -> None:
        """Stop the idle time-out while the client is being asked: a person may take their time."""
        self._paused += 1

    def resume(self) -> None:
        self._paused -= 1
        self.keep_alive()

    def _arm(self) -> None:
        timeout = self.server.limits.idle_timeout
        if timeout is not None:
            loop = asyncio.get_running_loop()
            self._deadline = loop.time() + timeout
            self._timer = loop.call_at(self._deadline, self._check_idle)

    def _check_idle(self) -> None:
        # The deadline moves with every sign of life, the timer does not: moving it each time would cost more.
        loop = asyncio.get_running_loop()
        if self._paused:
            self.keep_alive()
        if self._deadline > loop.time():
            self._timer = loop.call_at(self._deadline, self._check_idle)
        else:
            self._end(TimedOut(f"no sign of life for {self.server.limits.idle_timeout:g} s"))

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
