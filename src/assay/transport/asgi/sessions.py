"""Sessions over HTTP: the endpoint's session, its streams, and the stores."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from secrets import token_urlsafe
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from assay.model.error import STOPPING
from assay.protocol.http.session_share import SessionShares
from assay.protocol.scope import Scope
from assay.store.port import STANDALONE, EventStore, SessionStore
from assay.transport.port import Endpoint

from .stream import Outbox, Stream

if TYPE_CHECKING:
    from assay.protocol.scope import Session

FINISHED_STREAMS_KEPT: Final = 16
"""Finished streams of a session that a client can still resume."""
OPEN_STREAMS: Final = 64
"""Open streams of a session that a client can resume; further ones are sent, but not stored."""

ENDED: Final = "the session ended while the request was served"


class HttpSession:
    """One client's session in this process."""

    def __init__(self, session_id: str, events: EventStore) -> None:
        self.id = session_id
        self.standalone = Stream(session_id, STANDALONE, events)
        self.delivered = 0
        """Number of the last message of the standalone stream that was sent to any connection here."""
        self.streams: dict[str, Stream] = {STANDALONE: self.standalone}
        self.outbox = Outbox(self.standalone)
        self.session: Session = None  # type: ignore[assignment]  # set by HttpSessions
        self._events = events
        self._opened = 0

    async def find_stream(self, name: str) -> Stream | None:
        return self.streams.get(name)

    async def start_position(self) -> int:
        """The number after which a connection without a position follows the standalone stream."""
        return self.delivered

    async def open_stream(self, failure: bytes) -> Stream | None:
        """A new stream; none if too many are open, so that this one cannot be resumed. `failure` becomes its
        last message if this process dies."""
        finished = [name for name, each in self.streams.items() if each.finished]
        if len(self.streams) - len(finished) > OPEN_STREAMS:
            return None
        self._opened += 1
        stream = await self._make_stream(self._opened, failure)
        self.streams[stream.name] = stream
        stream.finished = self.standalone.finished  # the session may have ended meanwhile
        for name in finished[:-FINISHED_STREAMS_KEPT]:
            del self.streams[name]
            await self._events.drop(self.id, name)
        return stream

    async def _make_stream(self, number: int, failure: bytes) -> Stream:
        return Stream(self.id, str(number), self._events)

    def finish(self) -> None:
        for stream in self.streams.values():
            stream.finish()


class InUse:
    """A request in a session, from its beginning to its end: the session is not given up meanwhile."""

    __slots__ = ("_live", "_shares")

    def __init__(self, shares: SessionShares, live: HttpSession) -> None:
        self._shares = shares
        self._live = live

    def __enter__(self) -> None:
        self._shares.begin(self._live.id)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shares.finish(self._live.id, self._live.session.kept_bytes)


class HttpSessions:
    """All sessions of an application."""

    def __init__(
        self, endpoint: Endpoint, store: SessionStore, events: EventStore, sweep_interval: float
    ) -> None:
        self._endpoint = endpoint
        self._store = store
        self._events = events
        self._live: dict[str, HttpSession] = {}
        self._shares = SessionShares(endpoint.limits.sessions, endpoint.session_budget)
        self._room_maker = self._make_room  # one bound method for all sessions
        self._loop: asyncio.AbstractEventLoop
        self._thread = 0
        self._sweep_interval = sweep_interval
        self._sweeper: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._live)

    async def ready(self) -> None:
        """Prepare for the first session, where that takes a start."""

    def open(self, scope: Scope) -> HttpSession:
        """Open a session. Call `keep` once its handshake has succeeded, or else `drop`."""
        live = HttpSession(token_urlsafe(24), self._events)
        live.session = scope.session = self._endpoint.open_session(
            live.outbox.post, session_id=live.id, principal=scope.principal
        )
        return live

    async def keep(self, live: HttpSession, scope: Scope) -> bool:
        """Keep a session after its handshake. Returns False if it was dropped, for lack of room."""
        await self._end_expired()
        self._shares.add(live.id, scope.client_key, live.session.kept_bytes)
        must_give_up = self._shares.must_give_up(live.id)
        while must_give_up:
            given_up = self._shares.to_give_up(live.id)
            if given_up is None:
                self._shares.remove(live.id)
                self.drop(live)
                return False
            await self._end(given_up)
            must_give_up = self._shares.is_full()
        self._join(live)
        await self._store.save(live.session.record())
        live.session.changed = False
        self._sweep_later()
        return True

    def _join(self, live: HttpSession) -> None:
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._live[live.id] = live
        live.session.make_room = self._room_maker
        self._shares.finish(live.id, live.session.kept_bytes)

    def in_use(self, live: HttpSession) -> InUse:
        return InUse(self._shares, live)

    async def update(self, live: HttpSession) -> None:
        # A session that ended while its request was served must not return to the store.
        if live.session.changed and self._live.get(live.id) is live:
            live.session.changed = False
            await self._store.save(live.session.record())

    async def find(self, session_id: str, scope: Scope) -> HttpSession | None:
        """The session, if it exists and belongs to this principal."""
        record = await self._store.load(session_id)
        if record is None:
            await self._forget(session_id)
            return None
        if record.principal != scope.principal:
            return None  # before `touch`: another principal must not keep it alive
        await self._store.touch(session_id)
        live = self._live.get(session_id)
        if live is None:
            live = HttpSession(session_id, self._events)
            live.session = self._endpoint.restore_session(record, live.outbox.post)
            self._shares.add(session_id, scope.client_key, live.session.kept_bytes)
            self._join(live)
        return live

    async def listen(self, live: HttpSession) -> None:
        """Note that the client of a session follows its standalone stream."""

    async def touch(self, session_id: str) -> None:
        """Note that a session is in use."""
        await self._store.touch(session_id)

    async def end(self, live: HttpSession) -> None:
        await self._end(live.id)

    async def _end(self, session_id: str) -> None:
        self._close(session_id, ENDED)
        await self._delete(session_id)

    async def _delete(self, session_id: str) -> None:
        await self._store.delete(session_id)
        await self._events.forget(session_id)

    def drop(self, live: HttpSession) -> None:
        """Forget a session whose handshake failed."""
        self._endpoint.close_session(live.session)

    def _make_room(self, session_id: str, size: int) -> None:
        """End idle sessions, so that one in use can keep more. A handler in a thread has to try again:
        sessions are ended by the thread of the loop."""
        if threading.get_ident() != self._thread:
            self._loop.call_soon_threadsafe(self._make_room, session_id, size)
            return
        while self._shares.is_full(size) and (given_up := self._shares.to_give_up(session_id)):
            self._close(given_up, ENDED)
            self._spawn(self._delete(given_up))

    def _close(self, session_id: str, reason: str) -> None:
        """End a session in this process."""
        self._shares.remove(session_id)
        live = self._live.pop(session_id, None)
        if live is not None:
            live.finish()
            self._endpoint.close_session(live.session, reason)

    async def _forget(self, session_id: str, reason: str = ENDED) -> None:
        """End a session that the store has lost, or that remains there for another process."""
        if session_id in self._live:
            self._close(session_id, reason)
            await self._events.forget(session_id)

    async def _end_expired(self) -> None:
        for session_id in await self._store.evict():
            await self._forget(session_id)

    async def sweep(self) -> None:
        """End expired sessions, and repeat this later while any is left."""
        for session_id in list(self._shares.busy):
            await self._store.touch(session_id)
        await self._end_expired()
        self._sweep_later()

    def _sweep_later(self) -> None:
        if self._sweeper is None and self._live:
            self._sweeper = asyncio.get_running_loop().call_later(self._sweep_interval, self._sweep_again)

    def _sweep_again(self) -> None:
        self._sweeper = None
        self._spawn(self.sweep())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Close every session of this process; they remain in the store."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        for session_id in list(self._live):
            await self._forget(session_id, STOPPING)
        if self._tasks:
            await asyncio.wait(self._tasks)
