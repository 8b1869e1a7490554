"""Event streams that one process writes and another may send to the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.error import StoreAway
from assay.store.port import Event, SharedStore, StreamState
from assay.transport.asgi.stream import Stream

from .notice import Appended, Followed

if TYPE_CHECKING:
    from .sessions import SharedSessions


class SharedStream(Stream):
    """One stream, in each of the processes that write or follow it."""

    def __init__(self, session_id: str, name: str, sessions: SharedSessions, writer: str) -> None:
        super().__init__(session_id, name, sessions.store.events)
        self.writer = writer
        """The process that writes it; empty for the standalone stream, which all may write."""
        self._sessions = sessions
        self._is_followed = False
        self._is_concluding = False
        """Whether its last message is to be stored once the store is back."""

    @property
    def store(self) -> SharedStore:
        return self._sessions.store

    async def append(self, data: bytes, *, is_last: bool = False) -> str | None:
        if self.finished:
            return None
        try:
            state = await self.store.events.write(self._session_id, self.name, data, is_last=is_last)
        except StoreAway:
            # Sent on its connection, but not to be resumed from. An answer must not get lost with that.
            if is_last:
                self._is_concluding = True
                self._sessions.conclude_later(self, data)
            return None
        if state is None:
            self.is_taken = True
            self.finish()
            return None
        self.last = max(self.last, state.last)
        self.finished = is_last
        self._wake()
        await self._wake_reader(state)
        return self.event_id(state.last)

    async def end(self) -> None:
        if self.finished or self._is_concluding:
            return
        try:
            state = await self.store.events.finish(self._session_id, self.name)
        except StoreAway:
            state = None  # its readers see that this process has died, once it has
        self.finish()
        if state is not None:
            await self._wake_reader(state)

    async def fail(self) -> None:
        """Finish the stream with its failure: the process that wrote it has died."""
        state = await self.store.events.finish(self._session_id, self.name, failed=True)
        self.wake()
        if state is not None:
            await self._wake_reader(state)

    async def _wake_reader(self, state: StreamState) -> None:
        if state.reader not in ("", self.store.bus.worker):
            await self._sessions.publish(Appended(self._session_id, self.name))

    async def after(self, number: int) -> list[Event] | None:
        # The state first: a stream that was finished then gets no more messages.
        state = await self.store.events.state(self._session_id, self.name)
        events = await self.store.events.after(self._session_id, self.name, number)
        if state is None:
            self.finished = True
            return []
        self.last = max(self.last, state.last, *(event.number for event in events or ()))
        self.finished = self.finished or state.finished
        return events

    async def follow(self) -> None:
        if not self._is_followed:
            await self.begin_following()

    async def begin_following(self) -> StreamState | None:
        """Become the reader, and end the connection of the one before. Returns the state before."""
        self._is_followed = True
        state = await self.store.events.follow(self._session_id, self.name, self.store.bus.worker)
        if state is not None and state.reader not in ("", self.store.bus.worker):
            await self._sessions.publish(Followed(self._session_id, self.name))
        self._sessions.follow(self)
        return state

    async def leave(self, number: int) -> None:
        if not self._is_followed:
            return
        self._is_followed = False
        self._sessions.followed.discard(self)
        try:
            await self.store.events.unfollow(self._session_id, self.name, self.store.bus.worker, number)
        except StoreAway:
            pass  # the next reader begins at the end of the stream, as after the death of this process

    def wake(self) -> None:
        """Let the followers read again."""
        self._wake()

    @property
    def key(self) -> tuple[str, str]:
        """Session and name."""
        return self._session_id, self.name
