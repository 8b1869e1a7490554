"""What a store must do. Contract tests in `tests/store` run over every implementation."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from assay.model.session import SessionRecord


class Event(NamedTuple):
    """One message on a stream. `number` counts from 1 within its stream."""

    number: int
    data: bytes


class SessionStore(Protocol):
    """Sessions by id. A session that was not used for a while may be gone."""

    async def save(self, record: SessionRecord) -> None: ...

    async def load(self, session_id: str) -> SessionRecord | None:
        """The session; none when it is unknown or has expired. To ask for it is no use of it."""
        ...

    async def touch(self, session_id: str) -> None:
        """Note that a session is in use, unless it has expired."""
        ...

    async def delete(self, session_id: str) -> bool:
        """Forget a session. False when there was none."""
        ...

    async def evict(self) -> list[str]:
        """Forget what is past its time or over the bound, and say which ids those were."""
        ...


class EventStore(Protocol):
    """Messages of streams, kept so that a client which lost its connection can catch up."""

    async def append(self, session_id: str, stream: str, data: bytes) -> int:
        """Keep one more message and return its number."""
        ...

    async def after(self, session_id: str, stream: str, number: int) -> list[Event] | None:
        """Messages later than `number`; none when the stream is unknown or no longer reaches back to it."""
        ...

    async def drop(self, session_id: str, stream: str) -> None:
        """Forget one stream, which nobody can continue any more."""
        ...

    async def forget(self, session_id: str) -> None:
        """Drop all streams of a session."""
        ...
