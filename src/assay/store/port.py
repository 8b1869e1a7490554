"""The interfaces of stores. Contract tests in `tests/store` run against every implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from assay.model.session import SessionRecord
from assay.model.task import TaskRecord


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


class StoreFull(Exception):
    """A store has no room. The message names the limit."""


class TaskStore(Protocol):
    """Tasks by id, without their handlers. A task is deleted when its time to live is over.

    Several processes may use one store. Each change is made to the version that was read, so that of two
    changes at the same time one is refused and made again.
    """

    async def add(self, record: TaskRecord) -> TaskRecord:
        """Store a new task, and return it with its serial number.

        Raises:
            StoreFull: there are too many tasks, or they keep too many bytes.
        """
        ...

    async def load(self, task_id: str) -> TaskRecord | None:
        """The task; None if it is unknown or has expired."""
        ...

    async def swap(self, record: TaskRecord) -> bool:
        """Replace the version before this one. False if the task has another version by now, or is gone.

        Raises:
            StoreFull: the tasks would keep too many bytes.
        """
        ...

    async def page(self, owner: str, form: str, after: int, limit: int) -> list[TaskRecord]:
        """The tasks of an owner after a serial number, in order of creation."""
        ...

    async def newest(self) -> int:
        """The last serial number."""
        ...

    async def unfinished(self, worker: str) -> list[TaskRecord]:
        """The tasks of a worker that have not ended."""
        ...

    async def evict(self) -> list[str]:
        """Delete expired tasks, and return their ids."""
        ...

    async def next_expiry(self) -> float | None:
        """When the next task expires, in seconds since the epoch; None without tasks."""
        ...

    def watch(self, notify: Callable[[TaskRecord], None]) -> Callable[[], None]:
        """Call a function with each new version of any task. Returns a function that ends this."""
        ...
