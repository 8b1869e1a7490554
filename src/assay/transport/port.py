"""The interface between transports and a server; `assay.server.Server` implements it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from assay.model.error import MalformedMessage
from assay.model.jsonrpc import Envelope, Outcome
from assay.model.limits import Limits
from assay.model.session import SessionRecord
from assay.model.strictness import Strictness
from assay.protocol.byte_budget import ByteBudget
from assay.protocol.scope import Scope, Send
from assay.protocol.time_share import TimeShares
from assay.revisions.served import Served
from assay.store.port import Store

if TYPE_CHECKING:
    from assay.protocol.scope import Session, SessionBudget


class Endpoint(Protocol):
    @property
    def limits(self) -> Limits: ...

    @property
    def strictness(self) -> Strictness: ...

    @property
    def served(self) -> Served: ...

    @property
    def session_budget(self) -> SessionBudget: ...

    @property
    def store(self) -> Store | None: ...

    @property
    def byte_budget(self) -> ByteBudget: ...

    @property
    def time_shares(self) -> TimeShares: ...

    def open_session(
        self,
        post: Callable[[bytes], None],
        *,
        session_id: str = "",
        principal: Any = None,
        announce: bool = True,
    ) -> Session: ...

    def restore_session(
        self, record: SessionRecord, post: Callable[[bytes], None], *, announce: bool = True
    ) -> Session: ...

    def watch_changes(
        self, forward: Callable[[Iterable[str], Iterable[str]], None]
    ) -> Callable[[], None]: ...

    def close_session(self, session: Session, reason: str | None = None) -> None: ...

    def end_listening(self) -> None: ...

    async def drain(self) -> None: ...

    def start(self) -> Awaitable[None]: ...

    async def stop(self) -> None: ...

    async def handle(
        self,
        message: bytes | str | Mapping[str, Any],
        *,
        send: Send | None = None,
        scope: Scope | None = None,
    ) -> bytes | None: ...

    def dispatch(self, message: Envelope, send: Send | None, scope: Scope) -> Awaitable[Outcome | None]: ...

    def dispatch_batch(
        self, members: list[Envelope | MalformedMessage], send: Send | None, scope: Scope
    ) -> Awaitable[list[Outcome]]: ...
