"""Sessions over HTTP: the endpoint's session, its streams, and the stores."""

from __future__ import annotations

import asyncio
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, Final

from assay.store.port import EventStore, SessionStore
from assay.transport.port import Endpoint

from .stream import STANDALONE, Outbox, Stream

if TYPE_CHECKING:
    from assay.protocol.scope import Session

FINISHED_STREAMS_KEPT = 16
"""Finished streams of a session that a client can still resume."""

ENDED: Final = "the session ended while the request was served"
STOPPING: Final = "the server is stopping"


class HttpSession:
    """One client's session in this process."""

    def __init__(self, session_id: str, events: EventStore) -> None:
        self.id = session_id
        self.standalone = Stream(session_id, STANDALONE, events)
        self.delivered = 0
        """Number of the last message of the standalone stream that was sent to any connection."""
        self.streams: dict[str, Stream] = {STANDALONE: self.standalone}
        self.outbox = Outbox(self.standalone)
        self.session: Session = None  # type: ignore[assignment]  # set by HttpSessions
        self._events = events
        self._opened = 0

    async def open_stream(self) -> Stream:
        self._opened += 1
        stream = self.streams[str(self._opened)] = Stream(self.id, str(self._opened), self._events)
        stream.finished = self.standalone.finished  # the session may have ended meanwhile
        finished = [name for name, each in self.streams.items() if each.finished]
        for name in finished[:-FINISHED_STREAMS_KEPT]:
            del self.streams[name]
            await self._events.drop(self.id, name)
        return stream

    def finish(self) -> None:
        for stream in self.streams.values():
            stream.finish()


class HttpSessions:
    """All sessions of an application."""

    def __init__(
        self, endpoint: Endpoint, store: SessionStore, events: EventStore, sweep_interval: float
    ) -> None:
        self._endpoint = endpoint
        self._store = store
        self._events = events
        self._live: dict[str, HttpSession] = {}
        self._sweep_interval = sweep_interval
        self._sweeper: asyncio.TimerHandle | None = None
        self._sweeping: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._live)

    def open(self, principal: Any) -> HttpSession:
        """Open a session. Call `keep` once its handshake has succeeded, or else `drop`."""
        live = HttpSession(token_urlsafe(24), self._events)
        live.session = self._endpoint.open_session(live.outbox.post, session_id=live.id, principal=principal)
        return live

    async def keep(self, live: HttpSession) -> None:
        self._live[live.id] = live
        await self._store.save(live.session.record())
        live.session.changed = False
        await self.sweep()

    async def update(self, live: HttpSession) -> None:
        # A session that ended while its request was served must not return to the store.
        if live.session.changed and self._live.get(live.id) is live:
            live.session.changed = False
            await self._store.save(live.session.record())

    async def find(self, session_id: str, principal: Any) -> HttpSession | None:
        """The session, if it exists and belongs to this principal."""
        record = await self._store.load(session_id)
        if record is None:
            await self._forget(session_id)
            return None
        if record.principal != principal:
            return None  # before `touch`: another principal must not keep it alive
        await self._store.touch(session_id)
        live = self._live.get(session_id)
        if live is None:
            live = self._live[session_id] = HttpSession(session_id, self._events)
            live.session = self._endpoint.restore_session(record, live.outbox.post)
        return live

    async def touch(self, session_id: str) -> None:
        """Note that a session is in use."""
        await self._store.touch(session_id)

    async def end(self, live: HttpSession) -> None:
        await self._store.delete(live.id)
        await self._forget(live.id)

    def drop(self, live: HttpSession) -> None:
        """Forget a session whose handshake failed."""
        self._endpoint.close_session(live.session)

    async def _forget(self, session_id: str, reason: str = ENDED) -> None:
        live = self._live.pop(session_id, None)
        if live is not None:
            live.finish()
            self._endpoint.close_session(live.session, reason)
            await self._events.forget(session_id)

    async def sweep(self) -> None:
        """Close sessions that the store has evicted, and repeat this later while any is left."""
        for session_id in await self._store.evict():
            await self._forget(session_id)
        if self._sweeper is None and self._live:
            self._sweeper = asyncio.get_running_loop().call_later(self._sweep_interval, self._sweep_again)

    def _sweep_again(self) -> None:
        self._sweeper = None
        self._sweeping = asyncio.get_running_loop().create_task(self.sweep())

    async def close(self) -> None:
        """Close every session of this process; they remain in the store."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        for session_id in list(self._live):
            await self._forget(session_id, STOPPING)
