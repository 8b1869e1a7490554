"""One client's session in one of the processes that serve it."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Final

from msgspec import UNSET, Raw
from msgspec.structs import replace

from assay.model.jsonrpc import Envelope
from assay.model.limits import Limits
from assay.model.session import SessionRecord, merged
from assay.protocol.cancellation import read_cancellation
from assay.protocol.codec import decode, encode
from assay.protocol.principal import digest_of_principal
from assay.store.port import STANDALONE
from assay.transport.asgi.sessions import HttpSession
from assay.transport.asgi.stream import Stream

from .notice import Notice, Relayed
from .stream import SharedStream

if TYPE_CHECKING:
    from assay.protocol.scope import Session

    from .sessions import SharedSessions

ANSWER_PREFIX: Final = "assay-"


class SharedHttpSession(HttpSession):
    """One client's session, as this process knows it."""

    base: SessionRecord
    """The version in the store that this process has last seen."""
    touched: float = 0.0
    requests: int = 0
    """Requests and streams of the session in this process."""

    def __init__(self, session_id: str, sessions: SharedSessions) -> None:
        super().__init__(session_id, sessions.store.events)
        self._sessions = sessions
        self.standalone = SharedStream(session_id, STANDALONE, sessions, "")
        self.streams = {STANDALONE: self.standalone}
        self.outbox.redirect(self.standalone)
        self.relayed: list[Notice] = []
        self.listening = False

    async def _make_stream(self, number: int, failure: bytes) -> Stream:
        worker = self._sessions.store.bus.worker
        name = f"{worker}.{number}"
        await self._sessions.store.events.open(self.id, name, worker, failure)
        return SharedStream(self.id, name, self._sessions, worker)

    async def find_stream(self, name: str) -> Stream | None:
        stream = self.streams.get(name)
        if stream is not None:
            return stream
        state = await self._sessions.store.events.state(self.id, name)
        return None if state is None else SharedStream(self.id, name, self._sessions, state.worker)

    async def start_position(self) -> int:
        standalone, worker = self.standalone, self._sessions.store.bus.worker
        assert isinstance(standalone, SharedStream)
        state = await standalone.begin_following()
        if state is None:
            return 0
        if state.reader == "":
            return state.delivered
        # Another connection has followed, and how far it came is unknown: nothing is sent twice.
        return max(self.delivered, state.delivered) if state.reader == worker else state.last

    def record(self) -> SessionRecord:
        session = self.session
        owner = digest_of_principal(session.principal)
        return replace(session.record(), principal=owner, listening=self.listening)

    def refresh(self, stored: SessionRecord) -> None:
        """Take a newer version from the store, and keep what this process has changed meanwhile."""
        current = merged(self.base, self.record(), stored) if self.session.changed else stored
        self.session.adopt(current)
        self.listening = current.listening
        self.base = stored

    def relay(self, message: Envelope) -> bool:
        """Pass an answer or a cancellation on, unless nothing can wait for it."""
        own = self.session.outgoing_requests.prefix
        if message.method is UNSET:
            is_foreign = isinstance(message.id, str) and message.id.startswith(ANSWER_PREFIX)
            if not is_foreign or str(message.id).startswith(own):
                return False
        self.relayed.append(Relayed(self.id, Raw(encode(message))))
        return True


class InSharedUse:
    """A request in a session, from its beginning to its end: the session stays in memory meanwhile."""

    __slots__ = ("_live", "_sessions")

    def __init__(self, sessions: SharedSessions, live: SharedHttpSession) -> None:
        self._sessions = sessions
        self._live = live

    def __enter__(self) -> None:
        self._live.requests += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.requests -= 1
        if not self._live.requests:
            self._sessions.rest(self._live)


def settle(session: Session, data: Raw, limits: Limits) -> None:
    """Pass an answer or a cancellation that arrived at another process to the handler that waits for it."""
    message = decode(bytes(data), limits)
    assert isinstance(message, Envelope)
    if message.method is UNSET:
        session.outgoing_requests.settle(message)
        return
    cancellation = read_cancellation(message)
    running = None if cancellation is None else session.in_flight.get(cancellation.request_id)
    if running is not None and cancellation is not None:
        running.cancel(cancellation.reason)
