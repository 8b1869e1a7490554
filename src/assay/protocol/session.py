"""What a server knows about one client between its messages.

Sockets, tasks and timers belong to the callers, which put their own objects into `in_flight`,
`outgoing_requests` and `post`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from assay.model.definition import ClientCapabilities, Implementation
from assay.model.jsonrpc import RequestId
from assay.model.session import SessionRecord
from assay.revisions.registry import ASSUMED, BY_DATE, REVISIONS
from assay.revisions.revision import Revision

from .correlation import Correlation
from .lifecycle import STEPS, Input, State, Steps, step

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
        *("changed", "client_state", "endings", "id", "in_flight", "outgoing_requests", "peer", "post"),
        *("principal", "state", "steps", "subscriptions"),
    )

    def __init__(
        self,
        post: Callable[[bytes], None],
        *,
        session_id: str = "",
        principal: Any = None,
        steps: Steps = STEPS,
    ) -> None:
        self.id = session_id
        self.steps = steps
        self.principal = principal
        self.post = post
        """Sends a message that belongs to no request. Never blocks, never raises."""
        self.state = State.FRESH
        self.peer = Peer(ASSUMED)
        self.subscriptions: set[str] = set()
        self.in_flight: dict[RequestId, Running] = {}
        self.outgoing_requests = Correlation()
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
        following = step(self.state, received, self.steps)
        if following is not self.state:
            self.state = following
            self.changed = True

    def agree(self, revision: Revision, capabilities: ClientCapabilities, client: Implementation) -> None:
        """Store the outcome of `initialize`."""
        self.peer = Peer(revision, capabilities, client)
        self.changed = True

    def close(self, reason: str | None = None) -> None:
        """End the session and its requests in progress, and fail outgoing ones. Idempotent.

        Args:
            reason: The error that requests in progress are answered with; none if the client is gone.
        """
        if self.state is State.CLOSED:
            return
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

    @classmethod
    def restore(
        cls, record: SessionRecord, post: Callable[[bytes], None], *, steps: Steps = STEPS
    ) -> Session:
        session = cls(post, session_id=record.id, principal=record.principal, steps=steps)
        session.state = State(record.state)
        session.peer = Peer(BY_DATE[record.revision], record.capabilities, record.client, record.log_level)
        session.subscriptions = set(record.subscriptions)
        session.client_state = dict(record.client_state)
        return session
