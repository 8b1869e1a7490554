"""Opens the session of a client, replaces it when it is lost, and closes it.

Connecting runs in a task, which all calls that need the session wait for: a call that is cancelled does not
stop it, and closing the client does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from msgspec import Raw, Struct

from assay.model.client_error import ClientClosed, ClientError, ConnectionFailed, HttpFailure, ServerDied
from assay.model.client_limits import ClientLimits
from assay.transport.client.port import REPEATABLE, Link, SessionGone

from .callback import Callback
from .listing import StaleCursor
from .retry import Backoff, Retry, demanded_pause, may_pass, may_repeat
from .settings import CallOptions, Settings
from .state import ClientState, States

if TYPE_CHECKING:
    from .session import Session


class SentRequest(Struct, frozen=True):
    method: str
    params: dict[str, Any] | None
    options: CallOptions
    idempotent: bool | None = None
    """Whether the user says so; otherwise the method or the tool decides."""


class Life:
    """The part of a client that keeps it connected."""

    limits: ClientLimits
    timeout: float | None

    def __init__(
        self, make_link: Callable[[], Link], settings: Settings, retry: Retry, on_state: Callback | None
    ) -> None:
        self._make_link = make_link
        self._settings = settings
        self._retry = retry
        self._states = States(on_state)
        self._session: Session | None = None
        self._is_troubled = False
        """Whether the session is lost, or the last request got no answer. Each call checks this alone."""
        self._idempotent_tools: frozenset[str] = frozenset()
        self._connecting: asyncio.Task[Session] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._retired: list[Session] = []
        """Sessions that the server has ended, with calls in progress."""
        self._restarted = 0
        self._opened_at = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        """The one that the client was opened in. Connections cannot be used in another."""

    @property
    def state(self) -> ClientState:
        """Whether the server can be reached, as far as is known; `on_state` is called with changes."""
        return self._states.current

    @property
    def is_open(self) -> bool:
        return self._session is not None

    # Opening.

    async def open(self) -> Self:
        """Connect; `async with` does this.

        Raises:
            ClientError: the server cannot be reached, or has no common revision.
        """
        if self._loop is not None and self._loop.is_closed():
            self._forget()
        if self._session is not None or self._connecting is not None:
            raise ClientError("the client is already open")
        if self._closing is not None:
            await asyncio.shield(self._closing)
        self._loop = asyncio.get_running_loop()
        self._over, self._closing, self._restarted = asyncio.Event(), None, 0
        self._states.enter(ClientState.CONNECTING)
        task = self._start(self._first())
        try:
            await self._attend(task)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait([task])
            self._states.enter(ClientState.CLOSED)
            raise
        except ClientError as error:
            if not isinstance(error, ClientClosed):
                self._states.enter(ClientState.FAILED, error)
            # The way through this package says nothing that the message and the cause do not.
            raise error.with_traceback(None)  # noqa: B904
        return self

    async def _first(self) -> Session:
        return self._adopt(await self._open_within(self._retry.opening))

    def _adopt(self, session: Session) -> Session:
        self._session = session
        self._opened_at = asyncio.get_running_loop().time()
        self._recovered()
        if session.is_lost:  # at once
            self._on_lost(session)
        return session

    async def _open_within(self, seconds: float) -> Session:
        """Open a session, and again after failures that may pass."""
        backoff = Backoff(self._retry, seconds, asyncio.get_running_loop().time)
        while True:
            try:
                return await self._open_session()
            except ClientError as error:
                pause = backoff.next(demanded_pause(error)) if may_pass(error) else None
                if pause is None:
                    raise
            await self._pause(pause)

    async def _open_session(self) -> Session:
        from .session import Session  # not at the top: with what it needs, it is half of the client

        session = Session(self._make_link, self._settings, self._on_lost)
        await session.open(self._open_timeout)
        return session

    @property
    def _open_timeout(self) -> float:
        return (self.timeout or 60.0) + self.limits.connect_timeout + self.limits.probe_timeout

    def _start(self, work: Coroutine[Any, Any, Session]) -> asyncio.Task[Session]:
        self._connecting = task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(self._connected)
        return task

    def _connected(self, task: asyncio.Task[Session]) -> None:
        self._connecting = None
        if not task.cancelled():
            task.exception()  # the calls that wait raise it; all may have been cancelled

    async def _attend(self, task: asyncio.Task[Session]) -> Session:
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if task.cancelled() and caller is not None and not caller.cancelling():
                raise ClientClosed from None
            raise

    async def _pause(self, seconds: float) -> None:
        """
        Raises:
            ClientClosed: the client was closed meanwhile.
        """
        try:
            async with asyncio.timeout(seconds):
                await self._over.wait()
        except TimeoutError:
            return
        raise ClientClosed

    # Healing.

    def _on_lost(self, session: Session) -> None:
        if session is self._session:
            self._is_troubled = True
            self._states.enter(ClientState.LOST, session.reason)

    def _recovered(self) -> None:
        self._is_troubled = False
        self._states.enter(ClientState.OPEN)

    async def _send_again(self, session: Session, request: SentRequest, error: ClientError | None) -> Raw:
        """Send a request after its failure, if that is safe, in a new session if this one is over. Without an
        error it was not sent yet, because the client is troubled."""
        backoff = Backoff(self._retry, self._retry.deadline, asyncio.get_running_loop().time)
        is_over = renewed = False
        while True:
            is_over = isinstance(error, SessionGone) and not renewed
            if error is not None and not is_over:
                await self._wait_to_repeat(session, request, error, backoff)
            if is_over or session.is_lost:
                session, renewed = await self._replaced(session), True
                _check_cursor(request.params)
            try:
                raw = await session.request(request.method, request.params, request.options)
            except (ConnectionFailed, HttpFailure) as failure:
                error = failure
                continue
            if session is self._session and not session.is_lost:
                self._recovered()
            return raw

    async def _wait_to_repeat(
        self, session: Session, request: SentRequest, error: ClientError, backoff: Backoff
    ) -> None:
        """
        Raises:
            ClientError: the error, because the request must not be repeated, or has been for long enough.
        """
        if not may_repeat(error, idempotent=self._is_idempotent(request)):
            raise error
        pause = backoff.next(demanded_pause(error))
        if pause is None:
            if session is self._session and not session.is_lost:
                self._is_troubled = True
                self._states.enter(ClientState.LOST, error)
            raise error
        if not session.is_lost:  # otherwise, connecting again pauses
            self._states.enter(ClientState.RECONNECTING, error)
            await self._pause(pause)

    def _is_idempotent(self, request: SentRequest) -> bool:
        if request.idempotent is not None:
            return request.idempotent
        if request.method == "tools/call" and request.params is not None:
            return request.params["name"] in self._idempotent_tools
        return request.method in REPEATABLE

    async def _replaced(self, session: Session) -> Session:
        """The session that replaces one that is over.

        Raises:
            ClientError: it cannot be opened, or has been opened too often.
        """
        if self._session is None:
            raise ClientClosed
        if self._session is not session:
            return self._session  # another call was first
        return await self._attend(self._connecting or self._start(self._replace(session)))

    async def _replace(self, session: Session) -> Session:
        if not session.is_lost:
            # The server ended it, but other calls may still get their answers.
            self._retired = [each for each in self._retired if not each.is_closed] + [session]
            session.spawn(session.retire())
        try:
            reopen = self._restart if session.is_lost and session.link.is_process else self._reconnect
            return self._adopt(await reopen(session))
        except ClientError as error:
            if self._states.current is ClientState.RECONNECTING:
                self._states.enter(ClientState.LOST, error)
            raise

    async def _reconnect(self, session: Session) -> Session:
        if session.is_lost:
            if not self._retry.deadline:
                self._states.enter(ClientState.FAILED, session.reason)
                raise session.reason
            self._states.enter(ClientState.RECONNECTING, session.reason)
            await session.close()
            await self._pause(self._retry.pause(0))
        return await self._open_within(self._retry.deadline)

    async def _restart(self, session: Session) -> Session:
        """Start a process that has ended again, as often as the policy allows."""
        if asyncio.get_running_loop().time() - self._opened_at >= self._retry.settled:
            self._restarted = 0
        reason = session.reason
        while self._restarted < self._retry.restarts:
            self._states.enter(ClientState.RECONNECTING, reason)
            await session.close()
            pause = self._retry.pause(self._restarted)
            self._restarted += 1
            await self._pause(pause)
            try:
                return await self._open_session()
            except ServerDied as error:
                reason = error
        self._states.enter(ClientState.FAILED, reason)
        raise reason

    # Closing.

    async def close(self) -> None:
        """Close the connection, from any task, in bounded time. Calls in progress end with `ClientClosed`.
        Idempotent."""
        loop = self._loop
        if loop is not None and loop is not asyncio.get_running_loop():
            await self._close_elsewhere(loop)
            return
        if self._closing is None:
            session, self._session = self._session, None
            if session is None and self._connecting is None:
                self._states.enter(ClientState.CLOSED)
                return
            sessions = [*self._retired] if session is None else [session, *self._retired]
            self._closing = asyncio.get_running_loop().create_task(self._close(sessions))
        # Shielded: a caller that is cancelled must not leave a process behind.
        await asyncio.shield(self._closing)

    async def _close_elsewhere(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close in the event loop that the client was opened in, unless that has ended."""
        if self._closing is not None and self._closing.done():
            return
        if loop.is_running():
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self.close(), loop))
        else:
            self._forget()

    def _forget(self) -> None:
        """Let go of the connections of an event loop that has ended: they cannot be closed any more."""
        self._session = self._connecting = self._closing = self._loop = None
        self._retired = []
        self._states.enter(ClientState.CLOSED)

    async def _close(self, sessions: list[Session]) -> None:
        self._retired = []
        self._over.set()
        connecting = self._connecting
        if connecting is not None:
            connecting.cancel()
            await asyncio.wait([connecting])
        await asyncio.gather(*(session.close() for session in sessions))
        await self._states.close(self.limits.close_timeout)

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _check_cursor(params: dict[str, Any] | None) -> None:
    """Cursors are not kept across sessions (server/utilities/pagination)."""
    if params is not None and "cursor" in params:
        raise StaleCursor("the session has ended, and with it the list: read it again from its beginning")
