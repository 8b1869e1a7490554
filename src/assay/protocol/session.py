"""What a server knows about one client between its messages.

Sockets, tasks and timers belong to the callers, which put their own objects into `in_flight`,
`outgoing_requests` and `post`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from assay.model.definition import ClientCapabilities, Implementation
from assay.model.error import INVALID_PARAMS, Busy, RpcError
from assay.model.jsonrpc import Envelope, RequestId
from assay.model.limits import Limits
from assay.model.session import SessionRecord
from assay.revisions.registry import BY_DATE, REVISIONS
from assay.revisions.revision import Revision
from assay.revisions.served import EVERY, Served

from .correlation import Correlation
from .declared_client import DeclaredClient, declared_size
from .lifecycle import STEPS, Input, State, Steps, step
from .session_budget import SessionBudget

if TYPE_CHECKING:
    from .used_ids import UsedIds

NO_CAPABILITIES = ClientCapabilities()


class Peer(Struct):
    """The client of one request: its protocol revision, capabilities and name."""

    revision: Revision
    capabilities: ClientCapabilities = NO_CAPABILITIES
    client: Implementation | None = None
    log_level: str | None = None


STATELESS = {revision: Peer(revision) for revision in REVISIONS}
"""The peer of a message without a session. Shared, so never modified."""


class Running(Protocol):
    """A request in progress."""

    def cancel(self, reason: str | None) -> None:
        """End it without an answer."""
        ...

    def interrupt(self, reason: str) -> None:
        """End it, and answer with an error."""
        ...


class Session:
    """A client from before its handshake until its session is closed."""

    __slots__ = (
        *("_budget", "changed", "client_state", "endings", "id", "in_flight", "kept_bytes", "make_room"),
        *("outgoing_requests", "peer", "post", "principal", "relay", "served", "state", "steps"),
        *("subscription_bytes", "subscriptions", "used_ids"),
    )

    def __init__(
        self,
        post: Callable[[bytes], None],
        *,
        session_id: str = "",
        principal: Any = None,
        steps: Steps = STEPS,
        budget: SessionBudget | None = None,
        served: Served = EVERY,
    ) -> None:
        self._budget = budget or SessionBudget(Limits().session_bytes)
        self.kept_bytes = 0
        """Bytes that count against the budget: of what the client sent and of what handlers stored."""
        self.make_room: Callable[[str, int], object] | None = None
        """Frees bytes of the budget for a session, by its id, if other clients keep more than their share."""
        self.id = session_id
        self.steps = steps
        self.served = served
        self.principal = principal
        self.post = post
        """Sends a message that belongs to no request. Never blocks, never raises."""
        self.state = State.FRESH
        self.peer = Peer(served.assumed)
        self.subscriptions: set[str] = set()
        self.subscription_bytes = 0
        self.in_flight: dict[RequestId, Running] = {}
        self.used_ids: UsedIds | None = None
        """The ids of requests so far, if the server refuses to see one twice."""
        self.outgoing_requests = Correlation()
        self.relay: Callable[[Envelope], bool] | None = None
        """Passes an answer or a cancellation that belongs to no request here to another process that serves
        this session. False if it cannot belong to any."""
        self.client_state: dict[str, bytes] = {}
        """Values that handlers store for this client: JSON by key."""
        self.changed = False
        """Whether the content of `record` has changed since the host last saved it."""
        self.endings: tuple[Callable[[], None], ...] = ()
        """Callbacks for the end of the session. They must not raise."""

    @property
    def ready(self) -> bool:
        return self.state is State.READY

    def receive(self, received: Input) -> None:
        """Advance the lifecycle.

        Raises:
            RpcError: the message is out of order.
        """
        following = step(self.state, received, self.steps, self.served)
        if following is not self.state:
            self.state = following
            self.changed = True

    def agree(self, revision: Revision, declared: DeclaredClient) -> None:
        """Store the outcome of `initialize`. It is counted, but not refused."""
        self.peer = Peer(revision, declared.capabilities, declared.client)
        self._count(declared.size)
        self.changed = True

    def reserve(self, size: int) -> bool:
        """Count bytes that are stored for this client from now on, or no longer if negative. False if all
        sessions together would then keep too much."""
        if size > 0 and not self._budget.has_room(size) and self.make_room is not None:
            self.make_room(self.id, size)
        if size > 0 and not self._budget.has_room(size):
            return False
        self._count(size)
        return True

    def _count(self, size: int) -> None:
        with self._budget.lock:
            if self.state is not State.CLOSED:  # a handler may outlive the session
                self._budget.used += size
                self.kept_bytes += size

    def subscribe(self, uri: str, limits: Limits) -> None:
        """
        Raises:
            RpcError: this client, or all sessions together, would keep too much.
        """
        if uri in self.subscriptions:
            return
        size = uri_size(uri)
        if len(self.subscriptions) >= limits.subscriptions:
            raise RpcError(INVALID_PARAMS, f"too many subscriptions: limit {limits.subscriptions}")
        if self.subscription_bytes + size > limits.subscription_bytes:
            problem = "subscriptions too large: the limit for their URIs is"
            raise RpcError(INVALID_PARAMS, f"{problem} {limits.subscription_bytes} bytes")
        if not self.reserve(size):
            raise Busy("the server's sessions are full")
        self.subscriptions.add(uri)
        self.subscription_bytes += size
        self.changed = True

    def unsubscribe(self, uri: str) -> None:
        if uri in self.subscriptions:
            self.subscriptions.remove(uri)
            self.subscription_bytes -= uri_size(uri)
            self.reserve(-uri_size(uri))
            self.changed = True

    def close(self, reason: str | None = None) -> None:
        """End the session and its requests in progress, and fail outgoing ones. Idempotent.

        Args:
            reason: The error that requests in progress are answered with; none if the client is gone.
        """
        if self.state is State.CLOSED:
            return
        self._count(-self.kept_bytes)
        self.state = step(self.state, Input.CLOSE)
        for running in list(self.in_flight.values()):
            if reason is None:
                running.cancel("the session was closed")
            else:
                running.interrupt(reason)
        self.outgoing_requests.close()
        for notify in self.endings:
            notify()

    def record(self) -> SessionRecord:
        """The part that a durable store keeps beyond this process."""
        return SessionRecord(
            id=self.id,
            principal=self.principal,
            revision=self.peer.revision.date,
            capabilities=self.peer.capabilities,
            client=self.peer.client,
            log_level=self.peer.log_level,
            subscriptions=sorted(self.subscriptions),
            state=self.state.value,
            client_state=dict(self.client_state),
        )

    def adopt(self, record: SessionRecord) -> None:
        """Take the content of another version of this session."""
        self.state = State(record.state)
        peer = self.peer
        self.peer = Peer(peer.revision, peer.capabilities, peer.client, record.log_level)
        self._count(-_stored_bytes(self.subscription_bytes, self.client_state))
        self.subscriptions = set(record.subscriptions)
        self.subscription_bytes = sum(map(uri_size, self.subscriptions))
        # In place: handlers in progress hold this mapping.
        self.client_state.clear()
        self.client_state.update(record.client_state)
        self._count(_stored_bytes(self.subscription_bytes, self.client_state))

    def leave(self) -> None:
        """Count no bytes any more: the host has forgotten the session, and restores it when it is needed."""
        self._count(-self.kept_bytes)

    @classmethod
    def restore(
        cls,
        record: SessionRecord,
        post: Callable[[bytes], None],
        *,
        steps: Steps = STEPS,
        budget: SessionBudget | None = None,
        served: Served = EVERY,
    ) -> Session:
        session = cls(
            post,
            session_id=record.id,
            principal=record.principal,
            steps=steps,
            budget=budget,
            served=served,
        )
        session.state = State(record.state)
        session.peer = Peer(BY_DATE[record.revision], record.capabilities, record.client, record.log_level)
        session.subscriptions = set(record.subscriptions)
        session.subscription_bytes = sum(map(uri_size, session.subscriptions))
        session.client_state = dict(record.client_state)
        session._count(
            declared_size(record.capabilities, record.client)
            + _stored_bytes(session.subscription_bytes, record.client_state)
        )
        return session


def _stored_bytes(subscription_bytes: int, client_state: Mapping[str, bytes]) -> int:
    return subscription_bytes + sum(len(key) + len(data) for key, data in client_state.items())


def uri_size(uri: str) -> int:
    return len(uri.encode("utf-8", "surrogatepass"))
