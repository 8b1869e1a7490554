"""What a server knows of one client between its messages. Values only: sockets, tasks and
timers belong to the drivers, which hang their own objects into `in_flight`, `asked` and `post`."""

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
    """The client as one request sees it."""

    revision: Revision
    capabilities: ClientCapabilities = NO_CAPABILITIES
    client: Implementation | None = None
    log_level: str | None = None


STATELESS = {revision: Peer(revision) for revision in REVISIONS}
"""The peer of a message that comes without a session; shared, so never written to."""


class Running(Protocol):
    """A request that is being served."""

    def cancel(self, reason: str | None) -> None: ...


class Session:
    """A client that has shaken hands, or is about to."""

    __slots__ = (
        *("asked", "changed", "endings", "id", "in_flight", "kept", "peer", "post", "principal", "state"),
        *("steps", "subscriptions"),
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
        """Carries a message that belongs to no request. Never blocks, never raises."""
        self.state = State.FRESH
        self.peer = Peer(ASSUMED)
        self.subscriptions: set[str] = set()
        self.in_flight: dict[RequestId, Running] = {}
        self.asked = Correlation()
        self.kept: dict[str, bytes] = {}
        """What handlers keep for this client: JSON by key."""
        self.changed = False
        """Whether what `record` keeps has changed since the host last looked."""
        self.endings: tuple[Callable[[], None], ...] = ()
        """Called once, when it has ended. None of them raises."""

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
        """Keep what `initialize` settled."""
        self.peer = Peer(revision, capabilities, client)
        self.changed = True

    def close(self) -> None:
        """End the session: cancel what runs, fail what was asked. Closing twice is harmless."""
        if self.state is State.CLOSED:
            return
        self.state = step(self.state, Input.CLOSE)
        for running in list(self.in_flight.values()):
            running.cancel("the session was closed")
        self.asked.close()
        for tell in self.endings:
            tell()

    def record(self) -> SessionRecord:
        """The part that outlives this process in a durable store."""
        return SessionRecord(
            id=self.id,
            principal=self.principal,
            revision=self.peer.revision.date,
            capabilities=self.peer.capabilities,
            client=self.peer.client,
            log_level=self.peer.log_level,
            subscriptions=sorted(self.subscriptions),
            state=self.state.value,
            kept=dict(self.kept),
        )

    @classmethod
    def restore(
        cls, record: SessionRecord, post: Callable[[bytes], None], *, steps: Steps = STEPS
    ) -> Session:
        session = cls(post, session_id=record.id, principal=record.principal, steps=steps)
        session.state = State(record.state)
        session.peer = Peer(BY_DATE[record.revision], record.capabilities, record.client, record.log_level)
        session.subscriptions = set(record.subscriptions)
        session.kept = dict(record.kept)
        return session
