"""Which sessions make room for new ones when there are too many: one client cannot end those of others.

Shares count only when the server is nearly full: until then a client may use as much as it likes. Then a
client that has more than its share has to give up its own sessions for new ones, and those with the most give
way to others. A session with a request or stream in progress is never given up.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from assay.protocol.session_budget import SessionBudget

RESERVE: Final = 10
"""One part in so many is left for clients that have less than their share."""


class SharingClient:
    """The sessions of one client: idle ones in the order in which they are given up."""

    __slots__ = ("count", "kept_bytes", "unused", "used")

    def __init__(self) -> None:
        self.count = 0
        self.kept_bytes = 0
        self.unused: OrderedDict[str, None] = OrderedDict()
        """Idle sessions that had no request after their handshake, the oldest first."""
        self.used: OrderedDict[str, None] = OrderedDict()
        """Other idle sessions, the least recently used first."""

    @property
    def first_idle(self) -> str | None:
        return next(iter(self.unused), None) or next(iter(self.used), None)


class SharedSession:
    """One session, as far as sharing is concerned."""

    __slots__ = ("client", "client_key", "is_used", "kept_bytes", "requests")

    def __init__(self, client_key: Hashable, client: SharingClient, kept_bytes: int) -> None:
        self.client_key = client_key
        self.client = client
        self.kept_bytes = kept_bytes
        self.requests = 1
        """HTTP requests in progress: calls and streams."""
        self.is_used = False


class SessionShares:
    """The sessions of one application by client."""

    def __init__(self, limit: int, budget: SessionBudget) -> None:
        self._limit = limit
        self._budget = budget
        self._clients: dict[Hashable, SharingClient] = {}
        self._sessions: dict[str, SharedSession] = {}
        self._idle: OrderedDict[str, SharedSession] = OrderedDict()
        """Idle sessions of all clients, the least recently used first."""

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def busy(self) -> Iterator[str]:
        """The sessions with a request or stream in progress."""
        return (name for name, session in self._sessions.items() if session.requests)

    def add(self, session_id: str, client_key: Hashable, kept_bytes: int) -> None:
        """Add a session while its first request is in progress."""
        client = self._clients.setdefault(client_key, SharingClient())
        client.count += 1
        client.kept_bytes += kept_bytes
        self._sessions[session_id] = SharedSession(client_key, client, kept_bytes)

    def remove(self, session_id: str) -> None:
        session = self._sessions.pop(session_id, None)
        if session is None:
            return
        self._leave_idle(session_id, session)
        session.client.count -= 1
        session.client.kept_bytes -= session.kept_bytes
        if not session.client.count:
            del self._clients[session.client_key]

    def begin(self, session_id: str) -> None:
        """A request in the session begins."""
        session = self._sessions.get(session_id)
        if session is not None:
            self._leave_idle(session_id, session)
            session.requests += 1
            session.is_used = True

    def finish(self, session_id: str, kept_bytes: int) -> None:
        """A request in the session has ended, after which it keeps so many bytes."""
        session = self._sessions.get(session_id)
        if session is None:
            return
        session.client.kept_bytes += kept_bytes - session.kept_bytes
        session.kept_bytes = kept_bytes
        session.requests -= 1
        if not session.requests:
            self._idle[session_id] = session
            (session.client.used if session.is_used else session.client.unused)[session_id] = None

    def _leave_idle(self, session_id: str, session: SharedSession) -> None:
        self._idle.pop(session_id, None)
        session.client.unused.pop(session_id, None)
        session.client.used.pop(session_id, None)

    def is_full(self, size: int = 0) -> bool:
        """Whether there are too many sessions, or they keep too much for so many more bytes."""
        return len(self._sessions) > self._limit or not self._budget.has_room(size)

    def must_give_up(self, session_id: str) -> bool:
        """Whether a new session needs another one to be given up."""
        return self.is_full() or (
            len(self._clients) > 1
            and self._is_nearly_full()
            and self._is_over_share(self._sessions[session_id].client)
        )

    def to_give_up(self, session_id: str) -> str | None:
        """The idle session that makes room for this one; none if it has to be refused instead."""
        session = self._sessions.get(session_id)
        if session is None:
            return None  # it has ended meanwhile
        client = session.client
        if self._is_over_share(client):
            return client.first_idle
        idle = (each for each in self._clients.values() if self._is_over_share(each) and each.first_idle)
        largest = max(idle, key=self._usage, default=None)
        if largest is not None:
            return largest.first_idle
        usage = self._usage(client)
        return next((name for name, each in self._idle.items() if self._usage(each.client) >= usage), None)

    def _is_nearly_full(self) -> bool:
        reserve = self._budget.limit // RESERVE
        return len(self._sessions) > self._limit - self._limit // RESERVE or not self._budget.has_room(
            reserve
        )

    def _usage(self, client: SharingClient) -> float:
        """The part of the server that a client uses."""
        return max(client.count / self._limit, client.kept_bytes / self._budget.limit)

    def _is_over_share(self, client: SharingClient) -> bool:
        clients = len(self._clients)
        too_many = client.count > 1 and client.count * clients > self._limit
        return too_many or client.kept_bytes * clients > self._budget.limit
