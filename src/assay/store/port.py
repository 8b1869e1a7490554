"""The interfaces of stores. Contract tests in `tests/store` run against every implementation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from msgspec import Struct

from assay.model.session import SessionRecord
from assay.model.task import TaskRecord

STANDALONE: Final = "0"
"""The stream for messages that belong to no request."""


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


IN_USE: Final = 120.0
"""Seconds since its last use during which a session is not ended to make room. Processes note at shorter
intervals which sessions have a request or stream in progress."""


class SharedSessionStore(SessionStore, Protocol):
    """Sessions that several processes use. Each change is made to the version that was read."""

    async def add(self, record: SessionRecord, client: str, limit: int) -> list[str]:
        """Store a new session of a client.

        When there are more than `limit`, a client with more than its share loses its own least recently used
        session, otherwise the client with the most loses one. What is in use is not ended: then the new one
        is. Returns the ids of the sessions that were ended.
        """
        ...

    async def swap(self, record: SessionRecord) -> bool:
        """Replace the version before this one. False if the session has another version by now, or is
        gone."""
        ...

    async def is_current(self, session_id: str, version: int) -> bool:
        """Whether this is still the version of the session. Called for each of its requests."""
        ...

    async def count(self) -> int: ...


class StreamState(NamedTuple):
    """A stream, as far as other processes need to know it."""

    last: int
    """The number of its last message."""
    finished: bool
    worker: str
    """The process that writes it; empty if any may."""
    reader: str
    """The process whose connection follows it; empty if none does."""
    delivered: int
    """The number of the last message that a connection without a position was sent."""


class SharedEventStore(EventStore, Protocol):
    """Messages of streams that one process writes and another sends to the client."""

    async def open(self, session_id: str, stream: str, worker: str, failure: bytes) -> None:
        """Create a stream. `failure` becomes its last message if the process that writes it has died."""
        ...

    async def write(self, session_id: str, stream: str, data: bytes, *, is_last: bool) -> StreamState | None:
        """Store a message and return the state with its number; None if the stream was finished before."""
        ...

    async def finish(self, session_id: str, stream: str, *, failed: bool = False) -> StreamState | None:
        """Finish a stream, with its failure as the last message if it has failed. None if it was finished
        before."""
        ...

    async def state(self, session_id: str, stream: str) -> StreamState | None: ...

    async def follow(self, session_id: str, stream: str, worker: str) -> StreamState | None:
        """Set the reader of a stream. Returns the state before; None for an unknown stream."""
        ...

    async def unfollow(self, session_id: str, stream: str, worker: str, delivered: int) -> None:
        """Note that the reader in this process has left, and which message it sent last."""
        ...

    async def announce(self, data: bytes, uri: str | None) -> None:
        """Append a message to the stream "0" of each session that subscribes to a resource; without one, of
        each session whose client follows that stream."""
        ...


class StateRecord(Struct, frozen=True):
    """What handlers keep for one principal without a session: JSON by key."""

    values: Mapping[str, bytes]
    version: int = 0


class StateStore(Protocol):
    """Kept state by owner. The least recently used owners are dropped first."""

    def peek(self, owner: str) -> StateRecord:
        """The state; empty, with version 0, if there is none. Does not wait for the event loop: a handler
        reads it in the middle of a line."""
        ...

    async def swap(self, owner: str, record: StateRecord) -> bool:
        """Replace the version before this one. False if there is another by now."""
        ...


class ReplayStore(Protocol):
    """Keys that may be used once, such as the ids of proofs."""

    async def add(self, key: bytes, expires: float) -> bool:
        """Store a key until a time in seconds since the epoch. False if it is stored already.

        Raises:
            StoreFull: there are too many keys that have not expired.
        """
        ...


class LimitStore(Protocol):
    """Token buckets by key."""

    async def take(self, key: str, rate: float, burst: float) -> float:
        """Take a token from a bucket that gains `rate` tokens a second. Returns 0, or the seconds until there
        is one."""
        ...


class BusMessage(NamedTuple):
    topic: str
    data: bytes


Deliver = Callable[[BusMessage], None]


class Bus(Protocol):
    """Messages between the processes that share a store. A process does not receive its own."""

    @property
    def worker(self) -> str:
        """The name of this process: lower-case letters and digits."""
        ...

    async def publish(self, messages: Sequence[BusMessage]) -> None: ...

    def subscribe(self, topic: str, deliver: Deliver) -> Callable[[], None]:
        """Call a function with each message of a topic. Returns a function that ends this."""
        ...

    async def is_alive(self, worker: str) -> bool:
        """Whether a process has shown itself in the last seconds."""
        ...


class Store:
    """Everything that a server keeps, behind one URL: see `open_store`."""

    is_shared: bool
    """Whether several processes can use it. Otherwise it lives in the memory of one."""
    sessions: SessionStore
    events: EventStore
    tasks: TaskStore
    state: StateStore
    replay: ReplayStore
    limits: LimitStore
    bus: Bus

    async def start(self) -> None:
        """Connect, in the running event loop. Idempotent.

        Raises:
            StoreError: the store cannot be used. The message names cause and fix.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Disconnect. Idempotent; `start` connects again."""
        raise NotImplementedError

    async def check(self) -> None:
        """
        Raises:
            StoreError: the store cannot be used at present.
        """
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The URL without its password."""
        raise NotImplementedError


class SharedStore(Store):
    """A store that several processes can use."""

    is_shared = True
    sessions: SharedSessionStore
    events: SharedEventStore
