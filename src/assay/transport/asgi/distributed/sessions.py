"""Sessions over HTTP that several processes serve: each request may reach another one.

The store has what all of them must know. A process caches the sessions that it serves, asks the store for
each request whether its copy is current, and drops idle ones when they take too much memory. What concerns
one process only (a handler that waits for an answer, a connection that follows a stream) reaches it by the
bus.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from assay.model.error import STOPPING, StoreAway
from assay.model.jsonrpc import Notification
from assay.model.visible import visible_record
from assay.protocol.codec import encode
from assay.protocol.principal import digest, digest_of_principal
from assay.protocol.scope import Scope
from assay.store.port import BusMessage, SharedStore
from assay.transport.asgi.sessions import ENDED, HttpSession, HttpSessions
from assay.transport.port import Endpoint

from .notice import HTTP, Announced, Appended, Ended, Followed, Notice, Relayed, decode_notice, encode_notice
from .session import ANSWER_PREFIX, InSharedUse, SharedHttpSession, settle
from .stream import SharedStream

if TYPE_CHECKING:
    from assay.protocol.scope import Session

logger = logging.getLogger("assay")
logger.addFilter(visible_record)

CACHED: Final = 4096
"""Idle sessions that a process keeps in memory; others are read from the store when they are needed."""
TOUCH_INTERVAL: Final = 15.0
"""Seconds between two notes in the store that a session is in use."""
WATCH_INTERVAL: Final = 1.0
"""Seconds between two checks whether the processes that write the followed streams still live."""
CONCLUSIONS: Final = 600
"""Attempts to store an answer while the store is away."""


class SharedSessions(HttpSessions):
    """All sessions of an application, of which a part is in this process."""

    def __init__(self, endpoint: Endpoint, store: SharedStore, sweep_interval: float) -> None:
        super().__init__(endpoint, store.sessions, store.events, sweep_interval)
        self.store = store
        self.followed: set[SharedStream] = set()
        """Streams with a connection in this process."""
        self._cached: dict[str, SharedHttpSession] = {}
        self._idle: OrderedDict[str, SharedHttpSession] = OrderedDict()
        """Those without a request in progress, the least recently used first."""
        self._watch: asyncio.TimerHandle | None = None
        self._is_ready = False
        self._disconnect = (store.bus.subscribe(HTTP, self._receive), endpoint.watch_changes(self._announce))

    def __len__(self) -> int:
        return len(self._cached)

    async def ready(self) -> None:
        """Start the server, and so the store, where the host of the application has not."""
        if not self._is_ready:
            await self._endpoint.start()
            self._is_ready = True

    # One session.

    def open(self, scope: Scope) -> HttpSession:
        live = SharedHttpSession(token_urlsafe(24), self)
        session = self._endpoint.open_session(
            live.outbox.post, session_id=live.id, principal=scope.principal, announce=False
        )
        self._bind(live, session)
        scope.session = session
        return live

    def _bind(self, live: SharedHttpSession, session: Session) -> None:
        live.session = session
        session.relay = live.relay
        session.outgoing_requests.prefix = f"{ANSWER_PREFIX}{self.store.bus.worker}-"

    async def keep(self, live: HttpSession, scope: Scope) -> bool:
        assert isinstance(live, SharedHttpSession)
        record = replace(live.record(), version=1)
        client = digest(repr(scope.client_key))
        ended = await self.store.sessions.add(record, client, self._endpoint.limits.sessions)
        for session_id in ended:
            self._close(session_id, ENDED)
        await self.publish(*map(Ended, ended))
        if live.id in ended:
            return False
        live.base, live.session.changed = record, False
        self._cache(live)
        self._sweep_later()
        return True

    def _cache(self, live: SharedHttpSession) -> None:
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        live.touched = time.monotonic()
        live.session.make_room = self._room_maker
        self._cached[live.id] = live
        self.rest(live)

    def rest(self, live: SharedHttpSession) -> None:
        """Note that a session has no request in progress any more."""
        if self._cached.get(live.id) is not live:
            return
        self._idle[live.id] = live
        self._idle.move_to_end(live.id)
        budget = self._endpoint.session_budget
        while self._idle and (len(self._idle) > CACHED or not budget.has_room(0)):
            self._drop_idle()

    def _drop_idle(self) -> None:
        """Forget the least recently used session; it remains in the store."""
        session_id, live = self._idle.popitem(last=False)
        del self._cached[session_id]
        live.session.leave()

    def in_use(self, live: HttpSession) -> InSharedUse:  # type: ignore[override]
        assert isinstance(live, SharedHttpSession)
        self._idle.pop(live.id, None)
        # It may have been dropped as idle since it was read; notices for it must arrive.
        self._cached.setdefault(live.id, live)
        return InSharedUse(self, live)

    async def find(self, session_id: str, scope: Scope) -> HttpSession | None:
        await self.ready()
        live = self._cached.get(session_id)
        # A session in its handshake is read each time: its next message must not overtake the last one.
        if (
            live is None
            or not live.session.ready
            or not await self.store.sessions.is_current(session_id, live.base.version)
        ):
            live = await self._load(session_id, scope, live)
        if live is None or live.session.principal != scope.principal:
            return None
        if time.monotonic() - live.touched > TOUCH_INTERVAL:
            live.touched = time.monotonic()
            await self.touch(session_id)
        return live

    async def _load(
        self, session_id: str, scope: Scope, live: SharedHttpSession | None
    ) -> SharedHttpSession | None:
        record = await self.store.sessions.load(session_id)
        if record is None:
            self._close(session_id, ENDED)
            return None
        if record.principal != digest_of_principal(scope.principal):
            return None
        live = live or self._cached.get(session_id)  # another request may have loaded it meanwhile
        if live is None:
            live = SharedHttpSession(session_id, self)
            own = replace(record, principal=scope.principal)
            self._bind(live, self._endpoint.restore_session(own, live.outbox.post, announce=False))
            live.base, live.listening = record, record.listening
            self._cache(live)
            self._sweep_later()
        else:
            live.refresh(record)
        return live

    async def update(self, live: HttpSession) -> None:
        assert isinstance(live, SharedHttpSession)
        if live.relayed:
            notices, live.relayed = live.relayed, []
            await self.publish(*notices)
        if live.session.changed and self._cached.get(live.id) is live:
            await self._swap(live)

    async def _swap(self, live: SharedHttpSession) -> None:
        """Store the changes of this process, together with those that others have made meanwhile."""
        while live.session.changed:
            live.session.changed = False
            record = replace(live.record(), version=live.base.version + 1)
            try:
                if await self.store.sessions.swap(record):
                    live.base = record
                    continue
                live.session.changed = True
                stored = await self.store.sessions.load(live.id)
            except StoreAway:
                live.session.changed = True
                raise
            if stored is None:
                return self._close(live.id, ENDED)
            live.refresh(stored)

    async def touch(self, session_id: str) -> None:
        try:
            await self.store.sessions.touch(session_id)
        except StoreAway:
            pass  # logged there; the session expires only after many more attempts

    async def listen(self, live: HttpSession) -> None:
        assert isinstance(live, SharedHttpSession)
        if not live.listening:
            live.listening = live.session.changed = True
            await self.update(live)

    # The end of sessions.

    async def _end(self, session_id: str) -> None:
        self._close(session_id, ENDED)
        await self.store.sessions.delete(session_id)
        await self.publish(Ended(session_id))

    def _close(self, session_id: str, reason: str) -> None:
        live = self._cached.pop(session_id, None)
        self._idle.pop(session_id, None)
        if live is not None:
            live.finish()
            self._endpoint.close_session(live.session, reason)

    def _make_room(self, session_id: str, size: int) -> None:
        if threading.get_ident() != self._thread:
            self._loop.call_soon_threadsafe(self._make_room, session_id, size)
            return
        while self._idle and not self._endpoint.session_budget.has_room(size):
            self._drop_idle()

    async def sweep(self) -> None:
        """Note which sessions are in use, and end expired ones."""
        try:
            for session_id in [name for name, live in self._cached.items() if live.requests]:
                await self.store.sessions.touch(session_id)
            for session_id in await self.store.sessions.evict():
                self._close(session_id, ENDED)
        except StoreAway:
            pass  # logged there; the next sweep tries again
        self._sweep_later()

    def _sweep_later(self) -> None:
        if self._sweeper is None and self._cached:
            self._sweeper = asyncio.get_running_loop().call_later(self._sweep_interval, self._sweep_again)

    async def close(self) -> None:
        """Close every session of this process; they remain in the store."""
        for timer in (self._sweeper, self._watch):
            if timer is not None:
                timer.cancel()
        self._sweeper = self._watch = None
        for session_id in list(self._cached):
            self._close(session_id, STOPPING)
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._is_ready = False

    # Other processes.

    async def publish(self, *notices: Notice) -> None:
        if notices:
            await self.store.bus.publish([BusMessage(HTTP, encode_notice(notice)) for notice in notices])

    def _receive(self, message: BusMessage) -> None:
        notice = decode_notice(message.data)
        if isinstance(notice, Announced):
            for stream in self.followed:
                stream.wake()
            return
        live = self._cached.get(notice.session)
        if live is None:
            return
        if isinstance(notice, Ended):
            self._close(notice.session, ENDED)
        elif isinstance(notice, Relayed):
            settle(live.session, notice.message, self._endpoint.limits)
        else:
            self._notify_streams(notice)

    def _notify_streams(self, notice: Appended | Followed) -> None:
        live = self._cached[notice.session]
        own = live.streams.get(notice.stream)
        followed = (each for each in self.followed if each.key == (notice.session, notice.stream))
        for stream in {*followed, *(() if own is None else (own,))}:
            if isinstance(notice, Followed):
                stream.take_over()
            else:
                stream.wake()

    def follow(self, stream: SharedStream) -> None:
        """Note that a connection of this process follows a stream."""
        self.followed.add(stream)
        if self._watch is None:
            self._watch = asyncio.get_running_loop().call_later(WATCH_INTERVAL, self._check_writers)

    def _check_writers(self) -> None:
        self._watch = None
        if self.followed:
            self._spawn(self._fail_streams_of_the_dead())
            self._watch = asyncio.get_running_loop().call_later(WATCH_INTERVAL, self._check_writers)

    async def _fail_streams_of_the_dead(self) -> None:
        try:
            for stream in list(self.followed):
                if stream.writer and not stream.finished and not await self.store.bus.is_alive(stream.writer):
                    await stream.fail()
        except StoreAway:
            pass  # logged there; the next check tries again

    def conclude_later(self, stream: SharedStream, data: bytes) -> None:
        """Store an answer once the store is back."""
        self._spawn(self._conclude(stream, data))

    async def _conclude(self, stream: SharedStream, data: bytes) -> None:
        for _ in range(CONCLUSIONS):
            await asyncio.sleep(WATCH_INTERVAL)
            try:
                await self.store.events.write(*stream.key, data, is_last=True)
            except StoreAway:
                continue
            stream.finish()
            return await self.publish(Appended(*stream.key))
        logger.warning("an answer was lost to clients that resume: the store has not come back")
        return None

    def _announce(self, lists: Iterable[str], uris: Iterable[str]) -> None:
        """Append changes of this process to the streams of all sessions, wherever their connections are."""
        changes = [(Notification(f"notifications/{kind}/list_changed"), None) for kind in lists]
        updates = [(Notification("notifications/resources/updated", {"uri": uri}), uri) for uri in uris]
        self._spawn(self._append_changes([*changes, *updates]))

    async def _append_changes(self, changes: list[tuple[Notification, str | None]]) -> None:
        try:
            for notification, uri in changes:
                await self.store.events.announce(encode(notification), uri)
            await self.publish(Announced())
        except StoreAway:
            logger.warning("a change was not announced to all clients: the store is not available")
        for stream in self.followed:
            stream.wake()
