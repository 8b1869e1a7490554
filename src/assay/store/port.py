"""The interfaces of stores. Contract tests in `tests/store` run against every implementation."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from assay.model.session import SessionRecord


class Event(NamedTuple):
    """A message on a stream. Numbers start at 1 in each stream."""

    number: int
    data: bytes


class SessionStore(Protocol):
    """Sessions by id. Unused sessions expire. The caller bounds their number and size."""

    async def save(self, record: SessionRecord) -> None: ...

    async def load(self, session_id: str) -> SessionRecord | None:
        """The session; None if it is unknown or has expired. Loading does not count as use."""
        ...

    async def touch(self, session_id: str) -> None:
        """Record that a session is in use, unless it has expired."""
        ...

    async def delete(self, session_id: str) -> bool:
        """Delete a session. False if it did not exist."""
        ...

    async def evict(self) -> list[str]:
        """Delete expired sessions, and return their ids."""
        ...


class EventStore(Protocol):
    """Messages of streams, so that a client that lost its connection can resume."""

    async def append(self, session_id: str, stream: str, data: bytes) -> int:
        """Store a message and return its number."""
        ...

    async def after(self, session_id: str, stream: str, number: int) -> list[Event] | None:
        """The messages after `number`; None if the stream is unknown or some of them are gone."""
        ...

    async def drop(self, session_id: str, stream: str) -> None:
        """Delete a stream that can no longer be resumed."""
        ...

    async def forget(self, session_id: str) -> None:
        """Delete all streams of a session."""
        ...
