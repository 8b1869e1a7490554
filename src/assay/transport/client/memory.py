"""A server in the same process: encoded messages, no sockets. Each request runs in the task of its call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Protocol

from assay.model.client_error import ConnectionFailed, HttpFailure
from assay.model.client_limits import ClientLimits
from assay.model.definition import ToolDefinition
from assay.model.error import LifespanFailed
from assay.model.jsonrpc import Notification, Request
from assay.protocol.codec import encode
from assay.protocol.scope import Scope, Send
from assay.revisions.revision import Revision

from .message import Outgoing, deliver
from .port import Receiver

if TYPE_CHECKING:
    from assay.protocol.scope import Session

UNYIELDING: Final = 16
"""Messages after which other tasks get a turn: a call that never waits does not reach the event loop."""


class LocalServer(Protocol):
    """What a client uses of a server object: its public interface for hosts with their own transport."""

    @property
    def scope_type(self) -> type[Scope]: ...

    def start(self) -> Awaitable[None]: ...

    def open_session(
        self, post: Callable[[bytes], None], *, session_id: str = "", principal: Any = None
    ) -> Session: ...

    def close_session(self, session: Session, reason: str | None = None) -> None: ...

    async def handle(
        self, message: bytes, *, send: Send | None = None, scope: Any = None
    ) -> bytes | None: ...


class MemoryLink:
    endpoint = ""
    is_stateless = False
    is_process = False

    def __init__(self, server: LocalServer, limits: ClientLimits) -> None:
        self._server = server
        self._limits = limits.codec
        self._scope: Scope | None = None
        self._since_turn = 0

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver
        server = self._server
        try:
            await server.start()
        except (LifespanFailed, RuntimeError) as error:
            raise ConnectionFailed(f"the server cannot be started: {error}") from error
        try:
            scope = server.scope_type(transport="memory")
        except TypeError as error:
            name = server.scope_type.__name__
            raise ConnectionFailed(
                f"the scope of the server needs values: give {name} defaults: {error}"
            ) from error
        self._session = scope.session = server.open_session(self._take)
        self._scope = scope

    def _take(self, message: bytes) -> None:
        deliver(message, self._limits, self._receiver)

    async def _send_back(self, message: bytes) -> None:
        self._take(message)

    async def send(self, message: Outgoing, revision: Revision) -> None:
        if self._scope is None:
            return
        reply = await self._server.handle(encode(message), send=self._send_back, scope=self._scope)
        if reply is not None and isinstance(message, Request):
            self._take(reply)
        self._since_turn += 1
        if self._since_turn >= UNYIELDING:
            self._since_turn = 0
            await asyncio.sleep(0)

    def cancel(self, notice: Notification, revision: Revision) -> None:
        return  # the handler runs in the task that was cancelled

    def fallback(self, failure: HttpFailure | None) -> None:
        return

    async def follow(self, revision: Revision, opened: Callable[[], None]) -> None:
        return

    def learn(self, tools: Iterable[ToolDefinition]) -> None:
        return

    def context(self) -> str:
        return ""

    async def close(self) -> None:
        scope, self._scope = self._scope, None
        if scope is not None:
            self._server.close_session(self._session)
